"""A server of an app that takes feedback over HTTPS, and behaves as a file says.

usage: receive_webhook.py DIRECTORY PORT KEYID=SECRETFILE...

Makes DIRECTORY/receiver.pem, prints "ready", and appends to DIRECTORY/received.jsonl one line a
request. DIRECTORY/conduct holds one word: ok, slow, fail, busy, redirect, gone, drop, hang.
Signatures are verified by Python's own hmac and, where it is installed, by the library of Standard Webhooks.
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import ssl
import subprocess
import sys
import time

try:
    from standardwebhooks import Webhook
except ImportError:
    Webhook = None

directory, port, keys = sys.argv[1], int(sys.argv[2]), {}
for pair in sys.argv[3:]:
    name, path = pair.split("=", 1)
    with open(path, encoding="ascii") as file:
        text = file.read().strip()
    is_marked = text.startswith("whsec_")
    keys[name] = base64.b64decode(text[6:]) if is_marked else text.encode()


def conduct():
    try:
        with open(os.path.join(directory, "conduct"), encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        return "ok"


def verified(headers, body):
    """True if the named key's signature is the right one, by every means at hand."""
    names = headers["webhook-key-id"].split(" ")
    signatures = headers["webhook-signature"].split(" ")
    known = [(keys[name], given) for name, given in zip(names, signatures) if name in keys]
    if not known:
        return False
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    for key, given in known:
        code = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        if not hmac.compare_digest(f"v1,{code}", given):
            return False
        if Webhook is not None:
            Webhook(base64.b64encode(key).decode()).verify(body, dict(headers))
    return abs(time.time() - int(headers["webhook-timestamp"])) < 300


# 0: no answer at all.
STATUSES = {
    "ok": 204, "slow": 204, "fail": 503, "busy": 429, "redirect": 302, "gone": 410, "drop": 0,
    "hang": 0,
}


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        now = conduct()
        status = STATUSES[now]
        line = {
            "conduct": now,
            "status": status,
            "path": self.path,
            "headers": headers,
            "body": json.loads(body),
            "verified": verified(headers, body),
            "byLibrary": Webhook is not None,
        }
        with open(os.path.join(directory, "received.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        if now == "slow":
            time.sleep(1)
        while now == "hang":
            time.sleep(0.05)
            now = conduct()
        if status == 0:
            # It hangs up, or it is too late for an answer: the delivery counts as lost.
            self.close_connection = True
            return
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        if status == 429:
            self.send_header("Retry-After", "5")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format, *arguments):
        pass


certificate = os.path.join(directory, "receiver.pem")
key = os.path.join(directory, "receiver.key")
if not os.path.exists(certificate):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=receiver", "-addext",
         "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Receiver)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print("ready", flush=True)
server.serve_forever()

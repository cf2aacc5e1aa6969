"""Opens pushes as a browser does, with code that zonerelay's authors did not write.

Reads {"key": its private key, "auth": its secret, "pushes": [{"body", "authorization"}]} from a
file, all base64url but the bodies, which are base64. Prints a JSON list of {"text", "vapid"}.
"""

import base64
import json
import sys

import http_ece
import py_vapid
from cryptography.hazmat.primitives.asymmetric import ec


def raw(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


with open(sys.argv[1], encoding="utf-8") as file:
    given = json.load(file)
key = ec.derive_private_key(int.from_bytes(raw(given["key"]), "big"), ec.SECP256R1())
opened = []
for push in given["pushes"]:
    text = http_ece.decrypt(
        base64.b64decode(push["body"]),
        private_key=key,
        auth_secret=raw(given["auth"]),
        version="aes128gcm",
    )
    vapid = py_vapid.Vapid02.verify(push["authorization"])
    opened.append({"text": text.decode("utf-8"), "vapid": bool(vapid)})
json.dump(opened, sys.stdout)

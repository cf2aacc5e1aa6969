import NIOCore

/// Callers without any credential.
extension HostileCaller {
  static let strangers: [HostileCaller] = [
    HostileCaller("slow signed bodies") { turn in
      // The signature can be verified only when the body is there.
      turn.drip(
        """
        POST /events/1/\(Daemon.scope) HTTP/1.1\r\nhost: relay\r\n\
        content-type: application/cloudevents-batch+json\r\n\
        x-apple-cloudkit-request-keyid: stranger\r\n\
        x-apple-cloudkit-request-iso8601date: 2026-11-21T03:00:00Z\r\n\
        x-apple-cloudkit-request-signaturev1: AAAA\r\ncontent-length: 4194304\r\n\r\n[
        """, connections: 100)
    },
    HostileCaller("slow heads") { turn in
      turn.drip(
        "POST /device/1/\(Daemon.scope)/tokens/create HTTP/1.1\r\nx-slow:", connections: 200)
    },
    HostileCaller("bad user tokens", threads: 2) { turn in
      let path = "/device/1/\(Daemon.scope)/notifications/changes"
      guard let connection = turn.connection() else { return }
      for number in 0..<100 where !turn.isOver() {
        let token = "eyJhbGciOiJIUzI1NiJ9.e30.\(turn.number)x\(number)"
        let request = RequestText.post(path, token: token, body: "{}".utf8)
        guard connection.send(Array(buffer: request)), let answer = connection.answer() else {
          return
        }
        turn.answers.count(answer, of: turn.name)
      }
    },
    HostileCaller("bad producer keys with large bodies") { turn in
      turn.call(
        Array(
          buffer: RequestText.post(
            "/events/1/\(Daemon.scope)", token: "no key of a producer, but long enough for one",
            type: "application/cloudevents-batch+json",
            body: [UInt8](repeating: UInt8(ascii: "["), count: 4_000_000))))
    },
    HostileCaller("no HTTP") { turn in
      guard let connection = turn.connection() else { return }
      _ = connection.send([UInt8](repeating: UInt8(truncatingIfNeeded: turn.number), count: 70_000))
      if let answer = connection.answer() { turn.answers.count(answer, of: turn.name) }
    },
    HostileCaller("unread answers") { turn in
      guard let connection = turn.connection() else { return }
      let request = "GET /health/ready HTTP/1.1\r\nhost: relay\r\n\r\n"
      for _ in 0..<200 where !turn.isOver() {
        guard connection.send(String(repeating: request, count: 100)) else { return }
      }
    },
    HostileCaller("courier tokens that never were") { turn in
      turn.call(
        Array(
          "GET /courier/1/\(String(repeating: "A", count: turn.number % 4_000)) HTTP/1.1\r\n".utf8)
          + Array("host: relay\r\n\r\n".utf8))
    },
  ]
}

extension [UInt8] {
  init(buffer: ByteBuffer) { self = Array(buffer.readableBytesView) }
}

import Crypto
import Foundation
import NIOCore

/// Callers without any credential. These callers have the id of a signing key, but not the key.
extension HostileCaller {
  static let signer = (keyID: "signer", key: P256.Signing.PrivateKey())

  static let strangers: [HostileCaller] = [
    // The daemon can verify the signature only when the body has arrived.
    HostileCaller("slow signed bodies") { turn in
      turn.drip(signedHead(length: 4_194_304) + "[", connections: 300)
    },
    HostileCaller("large bodies that are not signed by who says so", threads: 4) { turn in
      let body = String(repeating: "[", count: 4_000_000)
      turn.call((signedHead(length: body.utf8.count) + body).utf8)
    },
    HostileCaller("slow heads") { turn in
      turn.drip(
        "POST /device/1/\(MeasuredDaemon.scope)/tokens/create HTTP/1.1\r\nx-slow:",
        connections: 1_000)
    },
    // Each head is almost as large as the daemon accepts, and never ends.
    HostileCaller("large heads that do not end") { turn in
      let filler = String(repeating: "x", count: 60_000)
      turn.drip(
        "POST /device/1/\(MeasuredDaemon.scope)/tokens/create HTTP/1.1\r\nx-slow:\(filler)",
        connections: 1_000)
    },
    HostileCaller("connections that say nothing") { turn in
      let all = (0..<2_000).compactMap { _ in turn.connection() }
      turn.answers.count(.sent, all.count, of: turn.name)
      for _ in 0..<4 where !turn.isOver() { Thread.sleep(forTimeInterval: 1) }
    },
    HostileCaller("connections that come and go") { turn in
      for _ in 0..<100 where !turn.isOver() {
        guard let connection = turn.connection() else { return }
        _ = connection.send("G")
        turn.answers.count(.sent, of: turn.name)
      }
    },
    HostileCaller("bad user tokens", threads: 4) { turn in
      guard let connection = turn.connection() else { return }
      let claims = String(repeating: "e30", count: 2_000)
      for number in 0..<100 where !turn.isOver() {
        let token = "eyJhbGciOiJIUzI1NiJ9.\(claims).\(turn.number)x\(number)"
        let request = RequestText.device("notifications/changes", token: token)
        guard turn.call(request.readableBytesView, on: connection) else { return }
      }
    },
    HostileCaller("header fields that compare slowly", threads: 2) { turn in
      turn.call(
        """
        POST /events/1/\(MeasuredDaemon.scope) HTTP/1.1\r\nhost: relay\r\ncontent-length: 0\r\n\
        content-encoding: \(slowText(60_000))\r\n\r\n
        """.utf8)
    },
    HostileCaller("user tokens that compare slowly", threads: 2) { turn in
      let header = Data(#"{"alg":"\#(slowText(5_000))","typ":"JWT"}"#.utf8).base64EncodedString()
      let request = RequestText.device("notifications/changes", token: "\(header).e30.e30")
      turn.call(request.readableBytesView)
    },
    HostileCaller("bad producer keys with large bodies", threads: 2) { turn in
      let request = RequestText.events(
        repeatElement(UInt8(ascii: "["), count: 4_000_000),
        key: "no key of a producer, but long enough for one")
      turn.call(request.readableBytesView)
    },
    HostileCaller("no HTTP") { turn in
      turn.call(repeatElement(UInt8(truncatingIfNeeded: turn.number), count: 70_000))
    },
    HostileCaller("answers that are not read", threads: 2) { turn in
      guard let connection = turn.connection() else { return }
      let requests = String(
        repeating: "GET /health/ready HTTP/1.1\r\nhost: relay\r\n\r\n", count: 100)
      for _ in 0..<200 where !turn.isOver() {
        guard connection.send(requests) else { return }
        turn.answers.count(.sent, 100, of: turn.name)
      }
    },
    HostileCaller("courier addresses that never were", threads: 2) { turn in
      let address = String(repeating: "A", count: turn.number % 4_000)
      turn.call("GET /courier/1/\(address) HTTP/1.1\r\nhost: relay\r\n\r\n".utf8)
    },
  ]

  /// A signed request's head that looks valid until its body has arrived.
  private static func signedHead(length: Int) -> String {
    let date = Date.now.formatted(.iso8601)
    return """
      POST /events/1/\(MeasuredDaemon.scope) HTTP/1.1\r\nhost: relay\r\n\
      content-type: application/cloudevents-batch+json\r\n\
      x-apple-cloudkit-request-keyid: \(signer.keyID)\r\n\
      x-apple-cloudkit-request-iso8601date: \(date)\r\n\
      x-apple-cloudkit-request-signaturev1: \(signature)\r\ncontent-length: \(length)\r\n\r\n
      """
  }

  /// A signature of another text by another key. The key is random, like a forger's key.
  private static let signature: String = {
    let key = P256.Signing.PrivateKey()
    // Any key is suitable: the signature only needs the right form, so that the daemon reads the
    // body before it refuses the request. With an empty signature the daemon would refuse the
    // request without its body.
    guard let signature = try? key.signature(for: Data("another text".utf8)) else { return "" }
    return signature.derRepresentation.base64EncodedString()
  }()
}

import Foundation
import RelayEngine
import RelayHTTP
import Testing

/// Answers that are larger than what the kernel keeps for their readers, and readers that are late.
@Suite struct UnreadAnswerTests {
  /// A rig whose readiness is told in so many bytes.
  private func rig(_ bytes: Int) async -> Rig {
    let rig = await Rig()
    rig.relay.behave { $0.vitals.reasons = [String(repeating: "x", count: bytes)] }
    return rig
  }

  private static let ready = "GET /health/ready HTTP/1.1\r\nHost: x\r\n"
  /// More than a socket's buffers.
  private static let large = 12 * 1_024 * 1_024

  private func isWhole(_ text: String, _ bytes: Int) -> Bool {
    text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.hasSuffix("x\"]}") && text.utf8.count > bytes
  }

  @Test func `requests are not answered faster than their answers are read`() async throws {
    let (count, bytes) = (60, 128 * 1_024)
    let rig = await rig(bytes)
    let relay = rig.relay
    let answered = try await rig.served { port, _ in
      let socket = try #require(Socket(port: port, room: 65_536))
      socket.send(String(repeating: Self.ready + "\r\n", count: count - 1))
      socket.send(Self.ready + "Connection: close\r\n\r\n")
      // Until it goes no further.
      var (last, since) = (0, ContinuousClock.now)
      Socket.wait {
        let looks = relay.seen.looks
        if looks != last { (last, since) = (looks, .now) }
        return looks == count || looks > 0 && ContinuousClock.now - since > .milliseconds(500)
      }
      let text = socket.receive()
      #expect(isWhole(text, count * bytes))
      #expect(text.components(separatedBy: "HTTP/1.1 200 OK").count == count + 1)
      return last
    }
    #expect(answered < count, "what is not read is not kept")
    #expect(rig.relay.seen.looks == count)
  }
}

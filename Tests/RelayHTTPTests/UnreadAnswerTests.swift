import Foundation
import RelayEngine
import RelayHTTP
import Testing

/// Answers larger than the kernel's buffers, with clients that read late.
@Suite struct UnreadAnswerTests {
  /// A rig whose readiness answer has about `bytes` bytes.
  private func rig(_ bytes: Int) async -> Rig {
    let rig = await Rig()
    rig.relay.behave { $0.readiness = .waiting(String(repeating: "x", count: bytes)) }
    return rig
  }

  private static let ready = "GET /health/ready HTTP/1.1\r\nHost: x\r\n"
  /// More bytes than a socket's buffers hold.
  private static let large = 12 * 1_024 * 1_024

  private func isWhole(_ text: String, _ bytes: Int) -> Bool {
    text.hasPrefix("HTTP/1.1 503 ") && text.hasSuffix("}") && text.utf8.count > bytes
  }

  @Test func `requests are not answered faster than their answers are read`() async throws {
    let (count, bytes) = (60, 128 * 1_024)
    let rig = await rig(bytes)
    let relay = rig.relay
    let answered = try await rig.served { port, _ in
      let socket = try #require(Socket(port: port, room: 65_536))
      socket.send(String(repeating: Self.ready + "\r\n", count: count - 1))
      socket.send(Self.ready + "Connection: close\r\n\r\n")
      // Wait until the server answers no more requests.
      var (last, since) = (0, ContinuousClock.now)
      Socket.wait {
        let looks = relay.seen.looks
        if looks != last { (last, since) = (looks, .now) }
        return looks == count || looks > 0 && ContinuousClock.now - since > .milliseconds(500)
      }
      let text = socket.receive()
      #expect(isWhole(text, count * bytes))
      #expect(text.components(separatedBy: "HTTP/1.1 503 ").count == count + 1)
      return last
    }
    #expect(answered < count, "what is not read is not kept")
    #expect(rig.relay.seen.looks == count)
  }

  @Test(arguments: ["HTTP/1.1\r\nConnection: close", "HTTP/1.0"])
  func `the last answer of a connection is sent whole`(version: String) async throws {
    let text = try await rig(Self.large).served { port, _ in
      let socket = try #require(Socket(port: port, room: 65_536))
      socket.send("GET /health/ready \(version)\r\nHost: x\r\n\r\n")
      _ = socket.hears(withinMilliseconds: 60_000)
      return socket.receive()
    }
    #expect(isWhole(text, Self.large))
  }

  @Test func `a client that half-closes its connection gets its answer whole`() async throws {
    let text = try await rig(Self.large).served { port, _ in
      let socket = try #require(Socket(port: port, room: 65_536))
      socket.send(Self.ready + "\r\n")
      shutdown(socket.fd, Int32(SHUT_WR))
      return socket.receive()
    }
    #expect(isWhole(text, Self.large))
  }

  /// The client stops sending after the kernel has taken the first part of the answer.
  @Test func `a client that half-closes during its answer gets the answer whole`() async throws {
    let text = try await rig(Self.large).served { port, _ in
      let socket = try #require(Socket(port: port, room: 65_536))
      socket.send(Self.ready + "\r\n")
      _ = socket.hears(withinMilliseconds: 60_000)
      shutdown(socket.fd, Int32(SHUT_WR))
      return socket.receive()
    }
    #expect(isWhole(text, Self.large))
  }

  @Test func `an answer under way when the daemon stops is sent whole`() async throws {
    let text = try await rig(Self.large).served { port, stop in
      let socket = try #require(Socket(port: port, room: 65_536))
      socket.send(Self.ready + "\r\n")
      _ = socket.hears(withinMilliseconds: 60_000)
      stop()
      // Wait until the stopping server accepts no more connections.
      while Socket(port: port) != nil {}
      return socket.receive()
    }
    #expect(isWhole(text, Self.large))
  }

  /// The client sends its whole body before it reads. If the server closed the connection
  /// meanwhile, the client would lose the answer.
  @Test func `a client refused before its body is read gets the refusal`() async throws {
    let length = 8 * 1_024 * 1_024
    let heard = try await Rig().served { port, _ in
      let socket = try #require(Socket(port: port))
      socket.send(
        "POST /events/1/\(Rig.container)/development HTTP/1.1\r\nHost: x\r\n"
          + "Connection: close\r\nContent-Length: \(length)\r\n\r\n")
      _ = socket.hears(withinMilliseconds: 60_000)
      let sent = socket.send(String(repeating: " ", count: length))
      return (sent, socket.receive())
    }
    #expect(heard.0 == length)
    #expect(heard.1.hasPrefix("HTTP/1.1 4") && heard.1.hasSuffix("}"))
  }

  @Test func `a refused client that never ends its body is disconnected`() async throws {
    var limits = Rig.atOnce
    limits.connectionIdleSeconds = 1
    let text = try await Rig(limits: limits).served { port, _ in
      let socket = try #require(Socket(port: port))
      socket.send(
        "POST /events/1/\(Rig.container)/development HTTP/1.1\r\nHost: x\r\n"
          + "Connection: close\r\nContent-Length: 100000000\r\n\r\n")
      let text = socket.receive()
      while socket.send(" ") == 1 {}
      return text
    }
    #expect(text.hasPrefix("HTTP/1.1 4") && text.hasSuffix("}"))
  }
}

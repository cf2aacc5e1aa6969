import Foundation
import Testing
@testable import ZoneRelayClient

@Suite struct URLSessionTransportTests {
  @Test func `a redirection is the answer, and the token goes nowhere else`() async throws {
    let server = try OneAnswerServer(
      "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
    let answer = try await URLSessionTransport().send(
      RelayRequest(
        method: "POST", url: url, headers: ["Authorization": "Bearer secret"],
        body: Data("{}".utf8)))
    #expect(answer.status == 302)
    #expect(answer.headers["location"] == "/elsewhere")
  }

  @Test(arguments: ["Basic realm=\"x\"", "Bearer", "Digest realm=\"x\", nonce=\"n\""])
  func `an answer that asks for a name and a password is the answer`(ways: String) async throws {
    let server = try OneAnswerServer(
      "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: \(ways)\r\nContent-Length: 2\r\n\r\n{}")
    var request = try server.request()
    request.timeout = .seconds(20)
    let answer = try await URLSessionTransport().send(request)
    #expect(answer.status == 401)
    #expect(answer.headers["www-authenticate"] == ways)
  }

  @Test func `an answer with more bytes than the limit is an error that names the limit`()
    async throws
  {
    for bytes in [1_000, 1_001] {
      let server = try OneAnswerServer(
        "HTTP/1.1 200 OK\r\nContent-Length: \(bytes)\r\n\r\n"
          + String(repeating: "a", count: bytes))
      var request = try server.request()
      request.answerBytesMax = 1_000
      if bytes == 1_000 {
        #expect(try await URLSessionTransport().send(request).body.count == 1_000)
      } else {
        let error = await #expect(throws: RelayError.self) {
          try await URLSessionTransport().send(request)
        }
        #expect(error?.code == .badAnswer)
        #expect(error?.message == "the answer has more than 1000 bytes")
      }
    }
  }

  /// The server sends some bytes often, so no single wait for bytes is as long as the timeout.
  @Test func `an answer that takes longer than the timeout is an error`() async throws {
    let server = try OneAnswerServer(
      "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", drips: 10)
    var request = try server.request()
    request.timeout = .seconds(1)
    let error = await #expect(throws: RelayError.self) {
      try await URLSessionTransport().send(request)
    }
    #expect(error?.code == .unreachable)
    #expect(error?.message == "no whole answer came within 1 s")
  }

  @Test func `the client's error of such an answer names the endpoint too`() async throws {
    let rig = try Rig(transport: EndlessTransport())
    let error = await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    #expect(error?.code == .badAnswer)
    #expect(error?.message == "notifications/changes: the answer has more than 7 bytes")
    #expect(error?.retryAfter == .seconds(1))
  }
}

/// A transport whose answers are larger than its limit.
private struct EndlessTransport: RelayTransport {
  func send(_ request: RelayRequest) async throws -> RelayAnswer {
    throw RelayError(.badAnswer, "the answer has more than 7 bytes")
  }
}

/// A server on loopback that answers one request and takes no other.
private struct OneAnswerServer {
  struct Failed: Error { let number = errno }

  let port: UInt16

  func request() throws -> RelayRequest {
    let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
    return RelayRequest(method: "GET", url: url)
  }

  /// - Parameter drips: how many bytes follow the answer, one each 200 ms.
  init(_ answer: String, drips: Int = 0) throws {
    #if canImport(Glibc)
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let listener = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 1) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard isListening else { throw Failed() }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread {
      let connection = accept(listener, nil, nil)
      close(listener)
      var request = [UInt8](repeating: 0, count: 4_096)
      _ = recv(connection, &request, request.count, 0)
      _ = send(connection, answer, answer.utf8.count, 0)
      // The timeout makes `recv` wait 200 ms before each byte. When the client closes the
      // connection, `recv` returns 0 and the server sends no more bytes.
      var pace = timeval(tv_sec: 0, tv_usec: 200_000)
      setsockopt(
        connection, SOL_SOCKET, SO_RCVTIMEO, &pace, socklen_t(MemoryLayout<timeval>.size))
      for _ in 0..<drips where recv(connection, &request, request.count, 0) != 0 {
        _ = send(connection, "a", 1, Int32(MSG_NOSIGNAL))
      }
      close(connection)
    }
  }
}

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
}

/// A server on loopback that answers one request and takes no other.
private struct OneAnswerServer {
  struct Failed: Error { let number = errno }

  let port: UInt16

  init(_ answer: String) throws {
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
      close(connection)
    }
  }
}

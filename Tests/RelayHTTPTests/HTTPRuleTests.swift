import Foundation
import RelayWire
import Testing

@testable import RelayHTTP

/// The rules of HTTP itself: a malformed request gets an ordinary error answer, after the answers
/// to the good requests before it.
@Suite struct HTTPRuleTests {
  private static let live = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
  private static let alive = #"{"live":true}"#

  private func talk(
    _ limits: HTTPLimits = Rig.atOnce, _ speak: @escaping @Sendable (Socket) -> String
  ) async throws -> String {
    try await Rig(limits: limits).served { port, _ in speak(try #require(Socket(port: port))) }
  }

  /// Sends `said`, and returns everything received until the connection ends.
  private func answer(to said: String) async throws -> String {
    try await talk { socket in
      socket.send(said)
      return socket.receive()
    }
  }

  private func count(_ part: String, in text: String) -> Int {
    text.components(separatedBy: part).count - 1
  }

  private func expect(
    _ text: String, _ status: Int, _ reason: String, code: String = "BAD_REQUEST",
    at place: SourceLocation = #_sourceLocation
  ) throws {
    #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(text)", sourceLocation: place)
    #expect(text.contains("\r\nConnection: close\r\n"), sourceLocation: place)
    #expect(text.contains("\r\nCache-Control: no-store\r\n"), sourceLocation: place)
    let body = text.components(separatedBy: "\r\n\r\n").dropFirst().joined()
    let json = try JSONTree(Array(body.utf8)).root
    #expect(try json.required("serverErrorCode").string() == code, sourceLocation: place)
    #expect(try json.required("uuid").string().count == 36, sourceLocation: place)
    let told = try json.required("reason").string()
    #expect(told.contains(reason), "\(told)", sourceLocation: place)
  }

  @Test(arguments: [
    ("", "Host is missing"), ("Host: x\r\nHost: x\r\n", "Host stands more than once"),
    ("Host: x\r\nhost: y\r\n", "Host stands more than once"),
    ("Host: a b\r\n", "Host must be"), ("Host: x/y\r\n", "Host must be"),
    ("Host: user@x\r\n", "Host must be"),
  ])
  func `a request without exactly one valid Host is refused`(fields: String, reason: String)
    async throws
  {
    let text = try await answer(to: "GET /health/live HTTP/1.1\r\n\(fields)\r\n")
    try expect(text, 400, reason)
  }

  @Test(arguments: [
    "GET /health/live HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n",
    "GET /health/live HTTP/1.1\r\nHost: x \r\nContent-Length: 0 \r\nConnection: close\r\n\r\n",
    "GET /health/live HTTP/1.1\r\nHost: [::1]:8460\r\nConnection: close\r\n\r\n",
    "GET /health/live HTTP/1.1\r\nHost: _x.example:80\r\nConnection: close\r\n\r\n",
    "GET /health/live HTTP/1.0\r\n\r\n",
  ])
  func `any well-formed Host is accepted, and HTTP 1.0 needs none`(said: String) async throws {
    let text = try await answer(to: said)
    #expect(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix(Self.alive))
  }

  private static func events(_ fields: String, _ body: String) -> String {
    "POST /events/1/\(Rig.container)/development HTTP/1.1\r\nHost: x\r\n"
      + "Authorization: Bearer \(Rig.producerKey)\r\n"
      + "Content-Type: application/cloudevents+json\r\n\(fields)\r\n\(body)"
  }

  @Test(arguments: ["gzip", "br", "identity, gzip", "GZIP"])
  func `a body with a content coding is refused`(coding: String) async throws {
    let body = Event().text
    let fields = "Content-Length: \(body.utf8.count)\r\nContent-Encoding: \(coding)\r\n"
    try expect(try await answer(to: Self.events(fields, body)), 415, "Content-Encoding is not")
  }

  @Test func `the content coding identity is accepted`() async throws {
    let body = Event().text
    let fields =
      "Content-Length: \(body.utf8.count)\r\nContent-Encoding: identity\r\nConnection: close\r\n"
    #expect(try await answer(to: Self.events(fields, body)).hasPrefix("HTTP/1.1 202 "))
  }

  /// The client is still sending its body when the relay refuses the request, and must still be
  /// able to read the answer.
  @Test func `a client that sends a large encoded body can still read the refusal`() async throws {
    let length = 4 * 1_024 * 1_024
    let text = try await talk { socket in
      socket.send(
        Self.events("Content-Length: \(length)\r\nContent-Encoding: gzip\r\n", ""))
      socket.send(String(repeating: "x", count: length))
      return socket.receive()
    }
    try expect(text, 415, "Content-Encoding is not")
  }

  @Test(arguments: ["gzip", "gzip, chunked", "GZIP", "identity"])
  func `a transfer coding other than chunked is refused`(coding: String) async throws {
    let text = try await answer(
      to: Self.events("Transfer-Encoding: \(coding)\r\n", "0\r\n\r\n") + Self.live)
    try expect(text, 501, "Transfer-Encoding other than chunked")
    #expect(count("HTTP/1.1 ", in: text) == 1, "nothing behind it is a request")
  }

  @Test(arguments: [
    "9223372036854775808", "18446744073709551615", "18446744073709551616",
    "999999999999999999999999999999",
  ])
  func `a Content-Length beyond any allowed body is answered 413`(length: String) async throws {
    for fields in [
      "Content-Length: \(length)\r\n",
      "Expect: 100-continue\r\ncontent-length:  \(length)\r\n",
    ] {
      let text = try await answer(to: Self.events(fields, "{}"))
      try expect(text, 413, "Content-Length is more than any body", code: "QUOTA_EXCEEDED")
    }
  }

  @Test(arguments: ["-1", "1x", "0x10", "1, 2", "99999999999999999999999x"])
  func `a Content-Length that is not a number is answered 400`(length: String) async throws {
    let text = try await answer(to: Self.events("Content-Length: \(length)\r\n", "{}"))
    try expect(text, 400, "no HTTP/1.1 request")
  }

  @Test func `oversized header fields are answered 431, and other versions 505`() async throws {
    let long = String(repeating: "x", count: 100_000)
    try expect(
      try await answer(to: "GET / HTTP/1.1\r\nHost: x\r\nX-Long: \(long)\r\n\r\n"), 431,
      "header fields are too many or too long")
    try expect(
      try await answer(to: "GET / HTTP/2.0\r\nHost: x\r\n\r\n"), 505, "speak HTTP/1.1")
    try expect(try await answer(to: "GET / HTTP/1.1\nHost: x\n\n"), 505, "ends without CR")
  }

  /// Fixed limit: head of a request
  @Test(arguments: [1, 25]) func `the size of a request head is bounded, in one field or in many`(
    fields: Int
  ) async throws {
    func head(_ bytes: Int) -> String {
      let others = "/HostxConnectionclose".utf8.count + fields * "X-Long".utf8.count
      let rest = bytes - others
      let values = (0..<fields).map { index in
        let length = index == 0 ? rest - (fields - 1) * (rest / fields) : rest / fields
        return "X-Long: \(String(repeating: "x", count: length))\r\n"
      }
      return "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(values.joined())\r\n"
    }
    for bytes in [RequestDecoder.headBytes - 1, RequestDecoder.headBytes] {
      #expect(try await answer(to: head(bytes)).hasPrefix("HTTP/1.1 404 "))
    }
    try expect(
      try await answer(to: head(RequestDecoder.headBytes + 1)), 431,
      "header fields are too many or too long")
  }

  /// Fixed limit: value of a header field
  @Test(arguments: [(threes: 341, twos: 0, status: 404), (0, 512, 404), (341, 1, 431)])
  func `the non-ASCII bytes of one header field are bounded`(
    threes: Int, twos: Int, status: Int
  ) async throws {
    let text = String(repeating: "€", count: threes) + String(repeating: "é", count: twos)
    let answer = try await answer(
      to: "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: \(text)\r\n\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
    #expect(answer.contains("X-Long has more than 1024 bytes beyond ASCII") == (status == 431))
  }

  @Test(arguments: ["\r\nConnection: keep-alive", ""])
  func `an answer to HTTP 1.0 is not chunked and ends with the connection`(
    field: String
  ) async throws {
    let rig = await Rig(limits: HTTPLimits())
    let body = #"{"apnsEnvironment":"development","apnsToken":"00ff"}"#
    let url = try #require(
      try await rig.device("tokens/register", body, client: Rig.phone).string("webcourierURL"))
    let path = url.dropFirst("https://relay.example.com".count)
    let relay = rig.relay
    let text = try await rig.served { port, stop in
      let socket = try #require(Socket(port: port))
      socket.send(
        "GET \(path) HTTP/1.0\r\nHost: x\r\nAccept: text/event-stream\(field)\r\n\r\n")
      Socket.wait { !relay.seen.connected.isEmpty }
      let first = socket.receive(until: "zonerelay\n\n")
      stop()
      return first + socket.receive()
    }
    #expect(text.hasPrefix("HTTP/1.0 200 OK\r\n"), "\(text)")
    #expect(!text.lowercased().contains("transfer-encoding"))
    #expect(text.contains("\r\nConnection: close\r\n"))
    #expect(text.hasSuffix("\r\n\r\n: zonerelay\n\n"), "\(text)")
  }

  @Test func `an HTTP 1.0 client gets no 100 Continue`() async throws {
    let body = Event().text
    let said = Self.events(
      "Content-Length: \(body.utf8.count)\r\nExpect: 100-continue\r\n", body
    ).replacing("HTTP/1.1", with: "HTTP/1.0")
    #expect(try await answer(to: said).hasPrefix("HTTP/1.1 202 "))
  }

  @Test func `a client that half-closes after many requests gets every answer`() async throws {
    let body = Event().text
    let text = try await talk { socket in
      socket.send(String(repeating: Self.live, count: 40))
      socket.send(Self.events("Content-Length: \(body.utf8.count)\r\n", body))
      socket.send(String(repeating: Self.live, count: 9))
      shutdown(socket.fd, Int32(SHUT_WR))
      return socket.receive()
    }
    #expect(count("HTTP/1.1 200 OK\r\n", in: text) == 49)
    #expect(count("HTTP/1.1 202 Accepted\r\n", in: text) == 1)
    #expect(count("Connection: close\r\n", in: text) <= 1)
    #expect(text.hasSuffix(Self.alive))
  }

  /// An incomplete request gets no answer, and the requests before it get their answers.
  @Test(arguments: [
    "GET /health", "POST /device/1/x/development/tokens/list HTTP/1.1\r\nHost: x\r\n",
    events("Content-Length: 1000\r\n", "{"), events("Transfer-Encoding: chunked\r\n", "5\r\n{"),
  ])
  func `a client that breaks off its last request gets the earlier answers`(rest: String)
    async throws
  {
    let text = try await talk { socket in
      socket.send(String(repeating: Self.live, count: 20) + rest)
      shutdown(socket.fd, Int32(SHUT_WR))
      return socket.receive()
    }
    #expect(count("HTTP/1.1 200 OK\r\n", in: text) == 20)
    #expect(count("HTTP/1.1 ", in: text) == 20, "\(text.suffix(400))")
  }

  @Test(arguments: [
    ("what is this?\r\n\r\n", 400), ("GET /health/live HTTP/1.1\r\n\r\n", 400),
    (events("Transfer-Encoding: gzip\r\n", ""), 501),
    (events("Content-Length: 99999999999999999999\r\n", ""), 413),
    (events("Transfer-Encoding: chunked\r\n", "no chunk\r\n"), 400),
  ])
  func `requests before a bad request are answered first`(bad: String, status: Int) async throws {
    let text = try await answer(to: String(repeating: Self.live, count: 20) + bad)
    #expect(count("HTTP/1.1 200 OK\r\n", in: text) == 20)
    #expect(count("HTTP/1.1 \(status) ", in: text) == 1)
    let last = try #require(text.range(of: "HTTP/1.1 200 OK", options: .backwards))
    #expect(try #require(text.range(of: "HTTP/1.1 \(status) ")).lowerBound > last.lowerBound)
  }
}

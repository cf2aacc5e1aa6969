import Foundation
import RelayHTTP
import Testing

/// One connection, several requests, and bodies that come in pieces.
@Suite struct ConnectionTests {
  /// Connects a client to a rig over a socket, and returns what the client received.
  private func talk(
    _ limits: HTTPLimits = Rig.atOnce, _ speak: @escaping @Sendable (Socket) -> String
  ) async throws -> String {
    try await Rig(limits: limits).served { port, _ in speak(try #require(Socket(port: port))) }
  }

  private static let live = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"

  private static func events(_ length: Int, key: String = Rig.producerKey) -> String {
    "POST /events/1/\(Rig.container)/development HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
      + "Authorization: Bearer \(key)\r\nContent-Length: \(length)\r\n"
      + "Content-Type: application/cloudevents+json\r\n\r\n"
  }

  private func count(_ part: String, in text: String) -> Int {
    text.components(separatedBy: part).count - 1
  }

  @Test func `requests that are sent together are answered in order`() async throws {
    let text = try await talk { socket in
      socket.send(String(repeating: Self.live, count: 50))
      socket.send("GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      return socket.receive()
    }
    #expect(count("HTTP/1.1 200 OK\r\n", in: text) == 50)
    #expect(count("HTTP/1.1 404 Not Found\r\n", in: text) == 1)
    #expect(try #require(text.range(of: "404")).lowerBound > text.range(of: "200")!.lowerBound)
  }

  @Test func `a body that arrives in pieces is read as a whole`() async throws {
    let body = Event().text
    let text = try await talk { socket in
      socket.send(Self.events(body.utf8.count))
      for character in body { socket.send(String(character)) }
      return socket.receive()
    }
    #expect(text.hasPrefix("HTTP/1.1 202 Accepted\r\n"))
    #expect(text.contains("Connection: close\r\n"))
  }

  @Test func `a body of several megabytes is read and accepted`() async throws {
    let body = Event().text + String(repeating: " ", count: 3 * 1_024 * 1_024)
    let text = try await talk { socket in
      socket.send(Self.events(body.utf8.count) + body)
      return socket.receive()
    }
    #expect(text.hasPrefix("HTTP/1.1 202 Accepted\r\n"))
  }

  @Test func `an unknown sender's body is skipped, and the next request is answered`() async throws
  {
    let text = try await talk { socket in
      let head = Self.events(200_000, key: "no producer's key").replacingOccurrences(
        of: "Connection: close\r\n", with: "")
      socket.send(head)
      let first = socket.receive(until: "}")
      socket.send(String(repeating: " ", count: 200_000) + Self.live)
      return first + socket.receive(until: "true}")
    }
    #expect(text.hasPrefix("HTTP/1.1 401"))
    #expect(text.hasSuffix(#"{"live":true}"#))
  }

  /// A request with one event in one chunk. Trailers, or an empty line, must follow.
  private static var chunkedEvent: String {
    let body = Event().text
    let head = events(0).replacingOccurrences(
      of: "Content-Length: 0", with: "Transfer-Encoding: chunked")
    return "\(head)\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n"
  }

  @Test func `a chunked body is read`() async throws {
    let text = try await talk { socket in
      socket.send(Self.chunkedEvent + "\r\n")
      return socket.receive()
    }
    #expect(text.hasPrefix("HTTP/1.1 202 Accepted\r\n"))
  }

  /// The responder waits for the end of the body when the trailers arrive.
  @Test func `too many trailers after a chunked body are answered 431`() async throws {
    let text = try await talk { socket in
      socket.send(Self.chunkedEvent)
      _ = socket.hears(withinMilliseconds: 100)
      socket.send((1...300).map { "X-\($0): \(String(repeating: "a", count: 100))\r\n" }.joined())
      return socket.receive()
    }
    #expect(text.hasPrefix("HTTP/1.1 431 "))
    #expect(text.contains("the header fields are too many or too long"))
  }

  @Test func `a client that closes its output is still answered`() async throws {
    let text = try await talk { socket in
      socket.send(Self.live)
      shutdown(socket.fd, Int32(SHUT_WR))
      return socket.receive()
    }
    #expect(text.hasSuffix(#"{"live":true}"#))
  }

  @Test func `an incomplete body ends its connection without an answer`() async throws {
    let text = try await talk { socket in
      socket.send(Self.events(1_000) + "{")
      shutdown(socket.fd, Int32(SHUT_WR))
      return socket.receive()
    }
    #expect(text == "")
  }

  @Test func `a connection without a complete request is closed`() async throws {
    var limits = Rig.atOnce
    limits.connectionIdleSeconds = 1
    for said in ["", "GET /health"] {
      let text = try await talk(limits) { socket in
        socket.send(said)
        return socket.receive()
      }
      #expect(text == "", "after \(said)")
    }
  }

  /// Each byte proves that the connection works, but the whole body must still arrive by its
  /// deadline.
  @Test func `a body that arrives byte by byte is refused at its deadline`() async throws {
    var limits = Rig.atOnce
    limits.connectionIdleSeconds = 1
    let text = try await talk(limits) { socket in
      socket.send(Self.events(10_000) + "{")
      for _ in 0..<600 where !socket.hears(withinMilliseconds: 100) { socket.send(" ") }
      return socket.receive()
    }
    #expect(text.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
    #expect(text.contains("Connection: close\r\n") && text.contains("within 1 s"))
  }

  @Test func `a body that does not arrive is refused at its deadline`() async throws {
    var limits = Rig.atOnce
    limits.connectionIdleSeconds = 1
    let text = try await talk(limits) { socket in
      socket.send(Self.events(10) + "{")
      return socket.receive()
    }
    #expect(text.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
  }

  @Test func `a skipped body that arrives byte by byte ends its connection`() async throws {
    var limits = Rig.atOnce
    limits.connectionIdleSeconds = 1
    let text = try await talk(limits) { socket in
      let head = Self.events(10_000, key: "no producer's key").replacingOccurrences(
        of: "Connection: close\r\n", with: "")
      socket.send(head)
      let text = socket.receive(until: "}")
      var sent = 0
      while sent < 600, !socket.hears(withinMilliseconds: 100) { sent += socket.send(" ") }
      return text + (sent < 600 ? "" : " and stays")
    }
    #expect(text.hasPrefix("HTTP/1.1 401 ") && text.hasSuffix("}"))
  }

  /// The room for bodies counts received bytes, not the announced length.
  @Test func `announced bodies that do not arrive take no room from other bodies`() async throws {
    var limits = Rig.atOnce
    limits.bodyBytes = 600_000
    limits.bodyBytesInFlight = 600_000
    let (body, key) = (Event().text, Rig.producerKey)
    let texts = try await Rig(limits: limits).served { port, _ in
      let slow = try ["Content-Length: 600000", "Transfer-Encoding: chunked"].map { length in
        let socket = try #require(Socket(port: port))
        let head = Self.events(0, key: key)
          .replacingOccurrences(of: "Content-Length: 0", with: length)
        socket.send(
          head.replacingOccurrences(of: "\r\n\r\n", with: "\r\nExpect: 100-continue\r\n\r\n"))
        _ = socket.receive(until: "\r\n\r\n")
        return socket
      }
      let socket = try #require(Socket(port: port))
      socket.send(Self.events(body.utf8.count) + body)
      return [socket.receive(), slow.isEmpty ? "" : "slow"]
    }
    #expect(texts[0].hasPrefix("HTTP/1.1 202 Accepted\r\n"))
  }

  @Test func `a body beyond the room for received bodies is refused`() async throws {
    var limits = Rig.atOnce
    limits.bodyBytesInFlight = 100
    let body = Event().text
    let text = try await talk(limits) { socket in
      socket.send(Self.events(body.utf8.count) + body)
      return socket.receive()
    }
    #expect(text.hasPrefix("HTTP/1.1 503 ") && text.contains("TRY_AGAIN_LATER"))
  }

  /// Limit: limits.connections
  @Test(arguments: [(count: 1, served: 1), (2, 2), (3, 2)])
  func `a connection beyond the limit is closed at once`(
    count: Int, served: Int
  ) async throws {
    var limits = Rig.atOnce
    limits.connections = 2
    let (texts, late) = try await Rig(limits: limits).served { port, _ in
      var sockets: [Socket] = []
      var texts: [String] = []
      func ask() throws -> String {
        let socket = try #require(Socket(port: port))
        socket.send(Self.live)
        sockets.append(socket)
        return socket.receive(until: "true}")
      }
      for _ in 0..<count { texts.append(try ask()) }
      // A connection that ends makes room for another.
      sockets.removeFirst()
      var late = ""
      let end = ContinuousClock.now + .seconds(60)
      while late.isEmpty, ContinuousClock.now < end { late = try ask() }
      return (texts, late)
    }
    #expect(texts.map { !$0.isEmpty } == (0..<count).map { $0 < served })
    #expect(late.hasPrefix("HTTP/1.1 200 "))
  }

  @Test func `the server accepts a request with an absolute URL`() async throws {
    let text = try await talk { socket in
      socket.send(
        "GET http://relay.example.com/health/live?x=1 HTTP/1.0\r\nHost: relay.example.com\r\n\r\n")
      return socket.receive()
    }
    #expect(text.hasSuffix(#"{"live":true}"#))
  }

  /// The parser stops after a request that offers another protocol, so a later request on the
  /// connection would get no answer.
  @Test(arguments: [
    "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\n"
      + "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
    "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n",
  ])
  func `a client that offers another protocol is answered and disconnected`(said: String)
    async throws
  {
    let text = try await talk { socket in
      socket.send(said)
      return socket.receive(until: "}")
        + (socket.hears(withinMilliseconds: 10_000) ? socket.receive() : " and stays")
    }
    #expect(text.hasPrefix("HTTP/1.1 \(said.hasPrefix("GET") ? 200 : 404) "))
    #expect(text.contains("\r\nConnection: close\r\n"))
    #expect(text.hasSuffix("}"))
  }

  @Test func `bytes after an upgrade offer are not kept`() async throws {
    let rig = await Rig(limits: HTTPLimits())
    let body = #"{"apnsEnvironment":"development","apnsToken":"00ff"}"#
    let url = try #require(try await rig.device("tokens/register", body).string("webcourierURL"))
    let path = url.dropFirst("https://relay.example.com".count)
    let (count, piece) = (256, String(repeating: "x", count: 262_144))
    let taken = try await rig.served { port, _ in
      let socket = try #require(Socket(port: port))
      // The relay holds the poll, and the request with the upgrade offer waits until the poll is
      // answered.
      socket.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
      socket.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
      socket.losePatience(milliseconds: 500)
      return (0..<count).prefix { _ in socket.send(piece) == piece.utf8.count }.count
    }
    #expect(taken < count, "the kernel keeps less than that")
  }

  /// RFC 9110, 9.3.2: the bytes after the head belong to the next answer.
  @Test func `a HEAD request is answered without a body`() async throws {
    let text = try await talk { socket in
      socket.send("HEAD /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
      socket.send("HEAD /courier/1/x HTTP/1.1\r\nHost: x\r\n\r\n")
      socket.send("HEAD /health/live HTTP/1.1\r\nHost: x\r\n\r\n" + Self.live)
      return (0..<4).map { _ in socket.receive(until: "\r\n\r\n") }.joined()
        + socket.receive(until: "}")
    }
    let heads = text.components(separatedBy: "\r\n\r\n")
    #expect(heads.count == 5)
    #expect(heads[0].hasPrefix("HTTP/1.1 404 ") && !heads[0].contains("Content-Length: 0"))
    #expect(heads[1].hasPrefix("HTTP/1.1 405 ") && heads[1].contains("Allow: GET"))
    #expect(heads[2] == heads[3] && heads[2].contains("\r\nContent-Length: 13"))
    #expect(heads[3].hasPrefix("HTTP/1.1 200 ") && heads[4] == #"{"live":true}"#)
  }

  /// The server reads no more requests from the connection, but still notices when the client ends
  /// it.
  @Test(arguments: [true, false])
  func `the relay notices a client that leaves a held last request`(isClosing: Bool) async throws {
    let rig = await Rig(limits: HTTPLimits())
    let body = #"{"apnsEnvironment":"development","apnsToken":"00ff"}"#
    let url = try #require(try await rig.device("tokens/register", body).string("webcourierURL"))
    let path = url.dropFirst("https://relay.example.com".count)
    let relay = rig.relay
    let hasLeft = try await rig.served { port, _ in
      var socket = Socket(port: port)
      socket?.send("GET \(path) HTTP/1.0\r\nHost: x\r\n\r\n")
      Socket.wait { !relay.seen.connected.isEmpty }
      if let socket, !isClosing { shutdown(socket.fd, Int32(SHUT_WR)) }
      if isClosing { socket = nil }
      Socket.wait { !relay.seen.left.isEmpty }
      return relay.seen.left.count == 1
    }
    #expect(hasLeft)
  }
}

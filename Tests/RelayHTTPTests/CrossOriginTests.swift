import Foundation
import HTTPTypes
import RelayCore
import RelayHTTP
import RelayWire
import Testing

/// Browser pages of other origins: which requests are allowed, and which headers the browsers get.
@Suite struct CrossOriginTests {
  private static let app = "https://app.example.com"
  private static let device = "/device/1/\(Rig.container)/development"
  private static let database = "/database/1/\(Rig.container)/development/private"
  private static let production = Scope(container: Rig.container, environment: .production)

  private static func access(_ origins: Set<String>) -> ScopeAccess {
    ScopeAccess(
      users: ScopeAccess.Users(.sharedSecret(Rig.secret)), origins: origins,
      producers: [ScopeAccess.Producer(name: "records-1", proof: .bearer(Rig.producerKey))],
      topics: ["com.example.notes"])
  }

  /// The API of two environments. Development lists the origins of `app` and of a page on this
  /// machine, and production lists another origin.
  private func rig(
    limits: HTTPLimits = Rig.atOnce, clock: TestClock = TestClock()
  ) async -> Rig {
    let rig = await Rig(limits: limits, access: Self.access([]), clock: clock)
    await rig.registry.replace(with: [
      Rig.scope: Self.access([Self.app, "http://localhost:3000"]),
      Self.production: Self.access(["https://production.example.com"]),
    ])
    return rig
  }

  private func ask(
    _ rig: Rig, _ path: String, from origin: String? = app, wanting method: String? = "POST"
  ) async throws -> Rig.Answer {
    var headers: HTTPFields = [:]
    headers[.origin] = origin
    headers[.accessControlRequestMethod] = method
    headers[.accessControlRequestHeaders] = "authorization,content-type"
    return try await rig.send(.options, path, headers: headers)
  }

  private func send(
    _ rig: Rig, _ method: HTTPRequest.Method, _ path: String, from origin: String = app,
    user: String? = "_abc"
  ) async throws -> Rig.Answer {
    var token: String?
    if let user { token = try await Rig.token(for: user) }
    return try await rig.send(
      method, path, method == .get ? nil : "{}", bearer: token, headers: [.origin: origin])
  }

  private func courierPath(_ rig: Rig) async throws -> String {
    let body = #"{"apnsEnvironment":"development","apnsToken":"00ff"}"#
    let url = try #require(
      try await rig.device("tokens/register", body, client: Rig.phone).string("webcourierURL"))
    return String(url.dropFirst("https://relay.example.com".count))
  }

  @Test func `a preflight from a listed origin is answered with what is allowed`()
    async throws
  {
    let rig = await rig()
    for (path, methods) in [
      ("\(Self.device)/tokens/register", "POST"), ("\(Self.device)/tokens/list", "GET, POST"),
      ("\(Self.database)/changes/database", "POST"), (try await courierPath(rig), "GET"),
    ] {
      for origin in [Self.app, "http://localhost:3000"] {
        let answer = try await ask(rig, path, from: origin)
        #expect(answer.status == 204, "\(path)")
        #expect(answer.text == "")
        #expect(answer.headers[.accessControlAllowOrigin] == origin)
        #expect(answer.headers[.accessControlAllowMethods] == methods)
        let allowed = answer.headers[.accessControlAllowHeaders] ?? ""
        for name in [
          "authorization", "content-type", "last-event-id", "x-apple-cloudkit-web-auth-token",
        ] {
          #expect(allowed.split(separator: ", ").contains(Substring(name)), "\(name)")
        }
        #expect(answer.headers[.vary] == "Origin")
        #expect(answer.headers[.cacheControl] == "no-store")
        #expect(answer.headers[.accessControlAllowCredentials] == nil)
      }
    }
  }

  @Test(arguments: [
    "https://other.example.com", "http://app.example.com", "https://app.example.com:8443",
    "https://APP.example.com", "null", "", "https://production.example.com",
    "https://app.example.com, https://app.example.com",
  ])
  func `a preflight from an unlisted origin is refused`(origin: String) async throws {
    let rig = await rig()
    for path in ["\(Self.device)/tokens/register", try await courierPath(rig)] {
      let answer = try await ask(rig, path, from: origin)
      #expect(answer.status == 403, "\(path)")
      #expect(try answer.string("serverErrorCode") == "ACCESS_DENIED")
      #expect(try answer.string("reason")?.contains("`origins`") == true)
      #expect(answer.headers[.accessControlAllowOrigin] == nil)
      #expect(answer.headers[.accessControlAllowMethods] == nil)
      #expect(answer.headers[.vary] == "Origin")
    }
  }

  @Test func `a preflight is refused where no origin is listed`() async throws {
    let rig = await Rig()
    let answer = try await ask(rig, "\(Self.device)/tokens/register")
    #expect(answer.status == 403)
    #expect(answer.headers[.accessControlAllowOrigin] == nil)
  }

  @Test func `answers and errors both let a page of a listed origin read them`() async throws {
    let rig = await rig()
    let unknown = "/device/1/\(Rig.container)/development/tokens/destroy"
    for (method, path, user, status) in [
      (.post, "\(Self.device)/tokens/list", "_abc", 200),
      (.get, "\(Self.device)/tokens/list", nil, 421),
      (.post, "\(Self.device)/tokens/register", "_abc", 400),
      (.delete, "\(Self.device)/tokens/list", "_abc", 405),
      (.head, "\(Self.database)/zones/list", "_abc", 405),
      (.post, unknown, "_abc", 404),
      (.post, "/device/1/iCloud.com.other/development/tokens/list", "_abc", 404),
      (.get, "/courier/1/unknown", nil, 410), (.get, try await courierPath(rig), nil, 200),
    ] as [(HTTPRequest.Method, String, String?, Int)] {
      let answer = try await send(rig, method, path, user: user)
      #expect(answer.status == status, "\(path)")
      #expect(answer.headers[.accessControlAllowOrigin] == Self.app, "\(path)")
      #expect(answer.headers[.accessControlExposeHeaders] == "retry-after", "\(path)")
      #expect(answer.headers[.vary] == "Origin", "\(path)")
    }
  }

  /// The relay answers, because the request's token says what the request may do. The browser does
  /// not show the answer to a page whose origin is not listed.
  @Test func `another origin's request is answered, but its page cannot read it`() async throws {
    let rig = await rig()
    let answer = try await send(
      rig, .post, "\(Self.device)/tokens/list", from: "https://other.example.com")
    #expect(answer.status == 200)
    #expect(answer.headers[.accessControlAllowOrigin] == nil)
    #expect(answer.headers[.vary] == "Origin")
  }

  @Test func `an answer to a request without an origin has no CORS headers`() async throws {
    let rig = await rig()
    let answer = try await rig.device("tokens/list")
    #expect(answer.headers[.vary] == nil && answer.headers[.accessControlAllowOrigin] == nil)
    let options = try await ask(rig, "\(Self.device)/tokens/list", from: nil)
    #expect(options.status == 405)
    #expect(options.headers[.allow] == "GET, POST")
  }

  @Test func `unknown containers and endpoints not for pages send no CORS headers`()
    async throws
  {
    let rig = await rig()
    for (path, status) in [
      ("/device/1/iCloud.com.other/development/tokens/list", 404),
      ("/device/1/\(Rig.container)/staging/tokens/list", 404), ("/nowhere", 404),
      ("/events/1/\(Rig.container)/development", 405), ("/health/live", 405),
    ] {
      let answer = try await ask(rig, path)
      #expect(answer.status == status, "\(path)")
      #expect(answer.headers[.accessControlAllowMethods] == nil, "\(path)")
    }
    let events = try await rig.send(
      .post, "/events/1/\(Rig.container)/development", "[]", bearer: Rig.producerKey,
      headers: [.origin: Self.app, .contentType: "application/cloudevents-batch+json"])
    #expect(events.status == 400)
    #expect(events.headers[.accessControlAllowOrigin] == nil)
  }

  /// The page must see the 410, or it would never register again.
  @Test func `an expired courier address still belongs to its environment`() async throws {
    let path = try await courierPath(await rig())
    var later = TestClock()
    later.now = later.now + .hours(13)
    let rig = await rig(clock: later)
    let answer = try await send(rig, .get, path, user: nil)
    #expect(answer.status == 410)
    #expect(answer.headers[.accessControlAllowOrigin] == Self.app)
    let other = try await send(
      rig, .get, path, from: "https://production.example.com", user: nil)
    #expect(other.status == 410)
    #expect(other.headers[.accessControlAllowOrigin] == nil)
  }

  @Test func `a reload takes effect with the next request`() async throws {
    let rig = await rig()
    let path = "\(Self.device)/tokens/list"
    #expect(try await ask(rig, path).status == 204)
    await rig.registry.replace(with: [Rig.scope: Self.access(["https://new.example.com"])])
    #expect(try await ask(rig, path).status == 403)
    #expect(try await ask(rig, path, from: "https://new.example.com").status == 204)
    let answer = try await send(rig, .post, path)
    #expect(answer.status == 200 && answer.headers[.accessControlAllowOrigin] == nil)
  }

  /// The courier writes the answers to polls and streams itself, with their CORS headers.
  @Test(arguments: [("*/*", true), ("text/event-stream", true), ("*/*", false)])
  func `the courier allows only a page of a listed origin to read its answer`(
    accept: String, isListed: Bool
  )
    async throws
  {
    let rig = await rig(limits: HTTPLimits())
    let path = try await courierPath(rig)
    let (relay, courier) = (rig.relay, rig.courier)
    let origin = isListed ? Self.app : "https://other.example.com"
    let text = try await rig.served { port, _ in
      let socket = try #require(Socket(port: port))
      socket.send(
        "GET \(path) HTTP/1.1\r\nHost: x\r\nOrigin: \(origin)\r\nAccept: \(accept)\r\n\r\n")
      Socket.wait { !relay.seen.connected.isEmpty }
      let device = DeviceKey(
        scope: Rig.scope, user: UserID("_abc"), client: ClientID(text: Rig.phone)!)
      courier.tell(device, wake: 7, payload: Array(#"{"zr":{"w":7}}"#.utf8)) { _ in }
      return socket.receive(until: #"{"w":7}}"#)
    }
    #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(text.contains("\r\nAccess-Control-Allow-Origin: \(Self.app)\r\n") == isListed)
    #expect(text.contains("\r\nAccess-Control-Expose-Headers: retry-after\r\n") == isListed)
    #expect(text.contains("\r\nVary: Origin\r\n"))
  }

  @Test func `a page's poll is answered empty at a stop, with CORS headers`() async throws {
    let rig = await rig(limits: HTTPLimits())
    let path = try await courierPath(rig)
    let relay = rig.relay
    let text = try await rig.served { port, stop in
      let socket = try #require(Socket(port: port))
      socket.send("GET \(path) HTTP/1.1\r\nHost: x\r\nOrigin: \(Self.app)\r\n\r\n")
      Socket.wait { !relay.seen.connected.isEmpty }
      stop()
      return socket.receive()
    }
    #expect(text.contains("\r\nContent-Length: 0\r\n"))
    #expect(text.contains("\r\nAccess-Control-Allow-Origin: \(Self.app)\r\n"))
  }

  /// A 204 has no body and no length, and the next answer follows it on the connection.
  @Test func `a preflight leaves its connection open for the next request`() async throws {
    let rig = await rig()
    let text = try await rig.served { port, _ in
      let socket = try #require(Socket(port: port))
      socket.send(
        "OPTIONS \(Self.device)/tokens/list HTTP/1.1\r\nHost: x\r\nOrigin: \(Self.app)\r\n"
          + "Access-Control-Request-Method: POST\r\n\r\n"
          + "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
      return socket.receive(until: "true}")
    }
    #expect(text.hasPrefix("HTTP/1.1 204 No Content\r\n"))
    let heads = text.components(separatedBy: "\r\n\r\n")
    #expect(heads.count == 3 && heads[1].hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(!heads[0].contains("Content-Length") && !heads[0].contains("Transfer-Encoding"))
  }
}

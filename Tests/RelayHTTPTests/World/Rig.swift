import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JWTKit
import Logging
import NIOCore
import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Testing

/// The API over a small relay, and a client.
struct Rig {
  static let container = "iCloud.com.example.notes"
  static let scope = Scope(container: container, environment: .development)
  static let secret = Array("0123456789abcdef0123456789abcdef".utf8)
  static let producerKey = "producer-key-of-at-least-32-characters"
  static let phone = "6f1c0000-0000-4000-8000-000000000001"
  static let tablet = "6f1c0000-0000-4000-8000-000000000002"

  let relay: TestRelay
  let settings: HTTPSettings
  let registry: ScopeRegistry
  let api: API
  let courier: Courier
  let admin: AdminAPI
  let reads: StoreReads
  let keys: TestKeys

  /// Limits with which polls return at once.
  static var atOnce: HTTPLimits {
    var limits = HTTPLimits()
    limits.courierHoldSeconds = 0
    return limits
  }

  init(
    limits: HTTPLimits = Rig.atOnce, core: Limits = Limits(), access: ScopeAccess? = nil,
    others: [Scope] = [], keys: TestKeys = TestKeys(), clock: any ClockReader = TestClock(),
    relay: TestRelay? = nil
  ) async {
    let access =
      access
      ?? ScopeAccess(
        users: ScopeAccess.Users(.sharedSecret(Self.secret)),
        producers: [ScopeAccess.Producer(name: "records-1", proof: .bearer(Self.producerKey))],
        topics: ["com.example.notes"])
    var scopes = [Self.scope: access]
    for scope in others { scopes[scope] = access }
    settings = HTTPSettings(
      listen: .tcp(host: "127.0.0.1", port: 0), publicURL: "https://relay.example.com",
      scopes: scopes, limits: limits, controlSocket: "/nowhere", version: "0.1.0")
    self.relay = relay ?? TestRelay(limits: core)
    self.keys = keys
    registry = await ScopeRegistry(settings.scopes, keys: keys, limits: limits)
    courier = Courier(limits: limits, clock: TestClock())
    reads = StoreReads(
      clock: clock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    api = API(
      relay: self.relay, reader: self.relay, reads: reads, keys: keys, clock: clock,
      access: registry,
      courier: courier, settings: settings)
    admin = AdminAPI(
      relay: self.relay, reader: self.relay, reads: reads, keys: keys, clock: clock,
      access: registry,
      settings: settings)
  }

  struct Answer {
    var status: Int
    var headers: HTTPFields
    var text: String
    var json: JSONCursor

    /// Values of a key in each item of a list.
    func each(_ list: StaticString, _ key: StaticString) throws -> [String?] {
      try (json[list]?.elements() ?? []).map { try $0.optional(key)?.string() }
    }

    func string(_ key: StaticString) throws -> String? { try json.optional(key)?.string() }
  }

  static func token(
    for user: String, audience: [String] = [container], expires: Double = 1_795_233_600,
    issuer: String? = nil, secret: [UInt8] = secret
  ) async throws -> String {
    struct Claims: JWTPayload {
      var sub: String
      var aud: [String]
      var exp: Double
      var iss: String?
      func verify(using algorithm: some JWTAlgorithm) async throws {}
    }
    let keys = JWTKeyCollection()
    await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
    return try await keys.sign(Claims(sub: user, aud: audience, exp: expires, iss: issuer))
  }

  /// - Parameter bearer: the bearer token; `nil` means no Authorization header.
  func send(
    _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, bearer: String? = nil,
    headers: HTTPFields = [:], control isControl: Bool = false
  ) async throws -> Answer {
    var fields = headers
    if let bearer { fields[.authorization] = "Bearer \(bearer)" }
    let buffer = body.map { ByteBuffer(string: $0) }
    let response =
      isControl
      ? try await Self.knock(admin, method, path, fields, buffer)
      : try await Self.knock(api, method, path, fields, buffer)
    let text = String(buffer: response.body)
    let tree = try? JSONTree(Array(text.utf8))
    let empty = try JSONTree(Array("{}".utf8))
    return Answer(
      status: response.status.code, headers: response.headers, text: text,
      json: tree?.root ?? empty.root)
  }

  /// Sends a GET to the API of a control socket, and returns the body of the answer.
  static func ask(_ admin: AdminAPI, _ path: String) async throws -> String {
    String(buffer: try await knock(admin, .get, path, [:], nil).body)
  }

  private static func knock(
    _ responder: any RequestResponder, _ method: HTTPRequest.Method, _ path: String,
    _ fields: HTTPFields, _ body: ByteBuffer?
  ) async throws -> TestResponse {
    try await Application(responder: ClientResponder(responder: responder)).test(.router) {
      try await $0.execute(uri: path, method: method, headers: fields, body: body)
    }
  }

  /// A device's request as `user`.
  func ask(
    _ path: String, _ body: String = "{}", as user: String = "_abc", client: String? = nil
  ) async throws -> Answer {
    let query = client.map { "?clientId=\($0)" } ?? ""
    return try await send(.post, path + query, body, bearer: try await Self.token(for: user))
  }

  func device(
    _ endpoint: String, _ body: String = "{}", as user: String = "_abc", client: String? = nil
  ) async throws -> Answer {
    try await ask(
      "/device/1/\(Self.container)/development/\(endpoint)", body, as: user, client: client)
  }

  func database(
    _ endpoint: String, _ body: String = "{}", in database: String = "private",
    as user: String = "_abc", client: String? = nil
  ) async throws -> Answer {
    try await ask(
      "/database/1/\(Self.container)/development/\(database)/\(endpoint)", body, as: user,
      client: client)
  }

  /// A producer's request.
  func produce(
    _ body: String, type: String = "application/cloudevents-batch+json",
    bearer: String? = producerKey
  ) async throws -> Answer {
    try await send(
      .post, "/events/1/\(Self.container)/development", body, bearer: bearer,
      headers: [.contentType: type])
  }

  /// Reports records of `zone` as created; they must all be accepted.
  func create(
    _ records: [String], zone: String = "ReadingList", owner: String = "_abc",
    client: String? = nil
  ) async throws {
    let events = records.map {
      Event(id: "c-\(zone)-\($0)", zone: zone, owner: owner, record: $0, client: client).text
    }
    let answer = try await produce("[\(events.joined(separator: ","))]")
    try #require(answer.status == 202)
  }
}

/// An event's text, valid unless a test changes the parts.
struct Event {
  var id = "01JD"
  var type = "zonerelay.record.created"
  var database = "private"
  var zone = "ReadingList"
  var owner = "_abc"
  var record: String? = "A1"
  var client: String?
  var more = ""

  var text: String {
    let author =
      client.map { #","changedBy":{"userRecordName":"\#(owner)","clientId":"\#($0)"}"# } ?? ""
    let record =
      record.map {
        #","record":{"recordName":"\#($0)","recordType":"Article","recordChangeTag":"7"}"#
      } ?? ""
    return #"""
      {"specversion":"1.0","id":"\#(id)","source":"/records/api-1","type":"\#(type)",
      "time":"2026-11-21T03:00:00Z","data":{"database":"\#(database)",
      "zoneID":{"zoneName":"\#(zone)","ownerRecordName":"\#(owner)"}\#(record)\#(author)\#(more)}}
      """#
  }
}

/// Passes the test client's requests on, with the channel that Hummingbird makes for each.
private struct ClientResponder: HTTPResponder {
  struct Context: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
      coreContext = CoreRequestContextStorage(source: source)
      channel = source.channel
    }
  }

  let responder: any RequestResponder

  func respond(to request: Request, context: Context) async throws -> Response {
    try await responder.respond(to: request, on: context.channel)
  }
}

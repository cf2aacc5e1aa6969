import FoundationEssentials
import HTTPTypes
import Glibc
package import Hummingbird
package import NIOCore
package import RelayCore
package import RelayEngine
import RelayWire

/// Answers the control listener's requests: everything that operators can read and do. A process
/// that may open the socket may send every request.
package struct AdminAPI: RequestResponder {
  let relay: any RelayService
  let reader: any FeedReader
  let reads: StoreReads
  let keys: any TokenKeys
  let clock: any ClockReader
  let access: ScopeRegistry
  let issues: HealthIssues
  let process: @Sendable () -> ProcessUsage
  let feedback: Feedback
  let trace: Trace?
  let limits: HTTPLimits
  let version: String
  private let bodies: BodyMemoryLimit

  /// - Parameters:
  ///   - process: reads the daemon's use of memory, CPU time and descriptors; called at each
  ///     scrape.
  ///   - feedback: the feedback for the apps' own servers.
  ///   - trace: the flight recorder, from which explanations are made; `nil` means that the relay
  ///     makes no explanations.
  package init(
    relay: any RelayService, reader: any FeedReader, reads: StoreReads, keys: any TokenKeys,
    clock: any ClockReader, access: ScopeRegistry, issues: HealthIssues = HealthIssues(),
    process: @escaping @Sendable () -> ProcessUsage = { ProcessUsage() },
    feedback: Feedback = .none, trace: Trace? = nil,
    settings: HTTPSettings
  ) {
    self.relay = relay
    self.reader = reader
    self.reads = reads
    self.keys = keys
    self.clock = clock
    self.access = access
    self.issues = issues
    self.process = process
    self.feedback = feedback
    self.trace = trace
    limits = settings.limits
    version = settings.version
    bodies = BodyMemoryLimit(limits)
  }

  package func respond(to request: Request, on channel: any Channel) async throws -> Response {
    do {
      return try await answer(request, on: channel)
    } catch {
      return try WireError(answering: error).response
    }
  }

  /// The paths, each with its methods.
  private static let methods: [String: [HTTPRequest.Method]] = [
    "/status": [.get, .head], "/devices": [.get, .head], "/feedback": [.get, .head],
    "/explain": [.get, .head], "/metrics": [.get, .head], "/tail": [.get],
    "/devices/forget": [.post], "/expire-tokens": [.post], "/drain": [.post],
  ]

  private func answer(_ request: Request, on channel: any Channel) async throws -> Response {
    guard let methods = Self.methods[request.uri.path] else { throw Self.nothingHere }
    guard methods.contains(request.method) else { throw WireError.wrongMethod(methods) }
    let query = ControlQuery(text: request.uri.query)
    switch request.uri.path {
    case "/status":
      return try json(StatusReport(await health(), version: version, pid: getpid()))
    case "/devices":
      return try json(await devices(user: query["user"], client: query.client("client")))
    case "/devices/forget": return try await forget(request)
    case "/feedback": return try json(await feedback(query.feedback))
    case "/explain":
      return Response(text: try await explain(query.explanation), type: "application/json")
    case "/tail": return try tail(query.tail, on: channel)
    case "/expire-tokens": return try await expireTokens(request)
    case "/drain":
      relay.drain()
      return Response(.object { $0.boolean("draining", true) })
    case "/metrics":
      return Response(
        text: MetricsText(await health(), process: process()).text,
        type: "text/plain; version=0.0.4; charset=utf-8")
    default: throw Self.nothingHere
    }
  }

  private static let nothingHere = WireError(
    .notFound, "there is nothing at this address of the control socket")

  /// The engine's health, and the problems outside the engine. A ledger that does not balance is a
  /// problem of its own (P12).
  func health() async -> HealthSnapshot {
    var health = await relay.health()
    if !health.ledger.isBalanced {
      health.reasons.append(
        "the ledger does not balance: a delivery was counted twice or not at all; please report it "
          + "with this status")
    }
    health.reasons += reads.reasons + issues.reasons
    health.store.failedReads = reads.failures
    health.webhooks = feedback.webhooks()
    return health
  }

  /// Answers `/devices/forget`: unregisters an installation for all its users.
  private func forget(_ request: Request) async throws -> Response {
    let room = bodies.room(for: .operators)
    defer { room.leave() }
    let bytes = try await room.collect(request, upTo: limits.bodyBytes)
    let client = try JSONTree(bytes).root.object().required("client").clientID()
    let keys = try await rows(of: client).map(\.key)
    guard !keys.isEmpty else { throw WireError(.notFound, "no device has the id \(client.text)") }
    _ = try await relay.submit(
      keys.map {
        .unregister(Unregistration(scope: $0.scope, user: $0.user, device: .client(client)))
      })
    return Response(.object { $0.integer("forgotten", keys.count) })
  }

  func rows(of client: ClientID) async throws -> [DeviceRow] {
    try await counted { try await reader.devices(client: client) }
  }

  /// The registrations of a user, of an installation, or of all users, as the store has them.
  private func devices(user: String?, client: ClientID?) async throws -> DevicesReport {
    var rows: [DeviceRow]
    if let client {
      rows = try await self.rows(of: client)
      if let user { rows.removeAll { $0.key.user.name != user } }
    } else {
      rows = try await counted {
        try await reader.devices(
          of: user.map { UserID($0) }, in: nil, limit: limits.devicesListed + 1)
      }
    }
    let now = clock.wall()
    let listed = rows.prefix(limits.devicesListed)
    return DevicesReport(
      devices: listed.map { DeviceReport($0, at: now, keys: keys) },
      moreComing: rows.count > listed.count ? true : nil)
  }

  /// Reads the store, and notes if the read failed.
  func counted<Value>(_ reading: () async throws -> Value) async throws -> Value {
    do {
      return try await reading()
    } catch let error as StoreError {
      reads.failed(error)
      throw error
    }
  }

  private static let expiryMembers = ["container", "environment", "user"]

  /// Answers `/expire-tokens`, with which operators expire change tokens after a restore or in
  /// tests of clients. An absent member means all containers, all environments or all users.
  private func expireTokens(_ request: Request) async throws -> Response {
    let room = bodies.room(for: .operators)
    defer { room.leave() }
    let bytes = try await room.collect(request, upTo: limits.bodyBytes)
    let body = try JSONTree(bytes.isEmpty ? Array("{}".utf8) : bytes).root.object()
    // An absent member means all of its kind, so a misspelt member must be refused.
    for (name, value) in try body.members() where !Self.expiryMembers.contains(name) {
      throw value.problem("is unknown; known are \(Self.expiryMembers.joined(separator: ", "))")
    }
    let user = body.optional("user")
    var expiry = TokenExpiry(
      container: try body.optional("container")?.string(),
      user: try user.map { (named) throws(JSONProblem) in UserID(try named.string()) })
    expiry.environment = try body.optional("environment")?.environment()
    if let user, expiry.user?.name.isEmpty == true { throw user.problem("must not be empty") }
    try requireConfigured(expiry)
    _ = try await relay.submit([.expireTokens(expiry)])
    return .emptyObject
  }

  /// Refuses a container or environment that is not configured. An expiry for such a name would
  /// expire no token, and the operator would believe that the tokens had expired.
  private func requireConfigured(_ expiry: TokenExpiry) throws(WireError) {
    guard expiry.container != nil || expiry.environment != nil else { return }
    let scopes = access.scopes
    let isThere = scopes.contains { scope in
      expiry.container ?? scope.container == scope.container
        && expiry.environment ?? scope.environment == scope.environment
    }
    guard !isThere else { return }
    let names = [expiry.container, expiry.environment?.name].compactMap(\.self)
    let known = scopes.map { "\($0.container) \($0.environment.name)" }
    throw WireError(
      .notFound,
      "'\(names.joined(separator: " "))' is not configured; "
        + "these are: \(known.joined(separator: ", "))")
  }

  private func json(_ value: some Encodable) throws -> Response {
    Response(text: try Self.json(value), type: "application/json")
  }

  static func json(_ value: some Encodable) throws -> String {
    String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }
}

import FoundationEssentials
import HTTPTypes
package import Hummingbird
package import NIOCore
import RelayCore
import RelayEngine
import RelayWire

/// Answers the control listener's requests. A process that may open the socket may send every
/// request.
package struct ControlResponder: RequestResponder {
  private let admin: AdminAPI
  private let bodies: BodyMemoryLimit

  package init(admin: AdminAPI) {
    self.admin = admin
    bodies = BodyMemoryLimit(admin.limits)
  }

  package func respond(to request: Request, on channel: any Channel) async throws -> Response {
    do {
      return try await answer(request, on: channel)
    } catch let error as WireError {
      return error.response
    } catch let problem as JSONProblem {
      return WireError(problem).response
    }
  }

  private func answer(_ request: Request, on channel: any Channel) async throws -> Response {
    switch request.uri.path {
    case "/status":
      try require([.get, .head], request)
      return try json(await admin.status())
    case "/devices":
      try require([.get, .head], request)
      return try json(await devices(request))
    case "/devices/forget":
      try require([.post], request)
      return try await forget(request)
    case "/feedback":
      try require([.get, .head], request)
      return try json(await admin.feedback(Self.query(request)))
    case "/explain":
      try require([.get, .head], request)
      return Response(
        text: try await admin.explain(Self.explanation(request)), type: "application/json")
    case "/tail":
      try require([.get], request)
      return try admin.tail(Self.tail(request), on: channel)
    case "/metrics":
      try require([.get, .head], request)
      return await MetricsText.response(admin)
    case "/expire-tokens":
      try require([.post], request)
      return try await expireTokens(request)
    case "/drain":
      try require([.post], request)
      admin.relay.drain()
      var json = JSONWriter()
      json.beginObject()
      json.boolean("draining", true)
      json.endObject()
      return Response(json)
    default:
      throw WireError(.notFound, "there is nothing at this address of the control socket")
    }
  }

  private func devices(_ request: Request) async throws -> DevicesReport {
    let user = PercentText.parameter("user", of: request.uri.query)
    guard let named = PercentText.parameter("client", of: request.uri.query) else {
      return try await admin.devices(user: user, client: nil)
    }
    guard let client = ClientID(text: named) else {
      throw WireError(.badRequest, "client must be a UUID")
    }
    return try await admin.devices(user: user, client: client)
  }

  /// Answers `/devices/forget`: unregisters an installation for all its users.
  private func forget(_ request: Request) async throws -> Response {
    let room = bodies.room(for: .operators)
    defer { room.leave() }
    let bytes = try await room.collect(request, upTo: admin.limits.bodyBytes)
    let named = try JSONTree(bytes).root.object().required("client")
    guard let client = ClientID(text: try named.string()) else {
      throw named.problem("must be a UUID")
    }
    let count = try await admin.forget(client)
    guard count > 0 else { throw WireError(.notFound, "no device has the id \(client.text)") }
    var json = JSONWriter()
    json.beginObject()
    json.integer("forgotten", Int64(count))
    json.endObject()
    return Response(json)
  }

  private static let expiryMembers = ["container", "environment", "user"]

  /// Answers `/expire-tokens`, with which operators expire change tokens after a restore or in
  /// tests of clients. An absent member means all containers, all environments or all users.
  private func expireTokens(_ request: Request) async throws -> Response {
    let room = bodies.room(for: .operators)
    defer { room.leave() }
    let bytes = try await room.collect(request, upTo: admin.limits.bodyBytes)
    let body = try JSONTree(bytes.isEmpty ? Array("{}".utf8) : bytes).root.object()
    // An absent member means all of its kind, so a misspelt member must be refused.
    for (name, value) in try body.members() where !Self.expiryMembers.contains(name) {
      throw value.problem("is unknown; known are \(Self.expiryMembers.joined(separator: ", "))")
    }
    var expiry = TokenExpiry(
      container: try body.optional("container")?.string(),
      user: try body.optional("user")?.string().asUser)
    if let named = body.optional("environment") {
      guard let environment = Environment(name: try named.string()) else {
        throw named.problem("must be \"development\" or \"production\"")
      }
      expiry.environment = environment
    }
    if let named = body.optional("user"), try named.string().isEmpty {
      throw named.problem("must not be empty")
    }
    try requireConfigured(expiry)
    do throws(Unavailable) {
      _ = try await admin.relay.submit([.expireTokens(expiry)])
    } catch {
      throw WireError(error)
    }
    return .emptyObject
  }

  /// Refuses a container or environment that is not configured. An expiry for such a name would
  /// expire no token, and the operator would believe that the tokens had expired.
  private func requireConfigured(_ expiry: TokenExpiry) throws(WireError) {
    guard expiry.container != nil || expiry.environment != nil else { return }
    let scopes = admin.access.scopes
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

  private func require(
    _ methods: [HTTPRequest.Method], _ request: Request
  ) throws(WireError) {
    guard methods.contains(request.method) else { throw .wrongMethod(methods) }
  }

  private func json(_ value: some Encodable) throws -> Response {
    Response(text: try Self.json(value), type: "application/json")
  }

  static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}

extension String {
  fileprivate var asUser: UserID { UserID(self) }
}

/// Answers the metrics listener's requests.
package struct MetricsResponder: RequestResponder {
  private let admin: AdminAPI

  package init(admin: AdminAPI) { self.admin = admin }

  package func respond(to request: Request, on channel: any Channel) async throws -> Response {
    guard request.uri.path == "/metrics" else {
      return WireError(.notFound, "there is nothing here but /metrics").response
    }
    let methods: [HTTPRequest.Method] = [.get, .head]
    guard methods.contains(request.method) else { return WireError.wrongMethod(methods).response }
    return await MetricsText.response(admin)
  }
}

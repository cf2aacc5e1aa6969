package import Hummingbird
import HTTPTypes
package import NIOCore
import RelayCore
import RelayEngine
import RelayWire

/// Passes each request of the API listener to its controller.
///
/// The relay has its own table of paths and uses no router: the paths are few and fixed, and a
/// request with a wrong method must be answered with 405 and `Allow`.
package struct APIResponder: RequestResponder {
  private let api: API

  package init(api: API) { self.api = api }

  package func respond(to request: Request, on channel: any Channel) async throws -> Response {
    let route = RequestRoute(path: request.uri.path)
    let page = CrossOrigin(request, route, api)
    var response: Response
    do {
      response = try await answer(request, route, from: page, on: channel)
    } catch let error as WireError {
      response = error.response
    } catch let problem as JSONProblem {
      response = WireError(problem).response
    }
    page?.mark(&response.headers)
    return response
  }

  private func answer(
    _ request: Request, _ route: RequestRoute?, from page: CrossOrigin?, on channel: any Channel
  ) async throws -> Response {
    guard let route else { throw Self.nothingHere }
    if let page, CrossOrigin.isPreflight(request) {
      if let scope = route.scope { _ = try authenticator(of: scope) }
      return try page.preflight(route)
    }
    guard route.methods.contains(request.method) else {
      throw WireError.wrongMethod(route.methods)
    }
    switch route {
    case .live: return api.health.live()
    case .ready: return api.health.ready()
    case .courier(let token):
      return try await api.couriers.hold(token, request, from: page, on: channel)
    case .events(let scope):
      return try await api.events.take(request, try authenticator(of: scope), on: channel)
    case .device(let scope, let endpoint):
      let authenticator = try authenticator(of: scope)
      return try await open(request, authenticator, on: channel, writes: endpoint.writes) {
        body, caller in
        try await answer(body, caller, endpoint, authenticator, query: request.uri.query)
      }
    case .database(let scope, let database, let endpoint):
      let authenticator = try authenticator(of: scope)
      return try await open(request, authenticator, on: channel, writes: endpoint.writes) {
        body, caller in
        try await answer(body, caller, endpoint, database, query: request.uri.query)
      }
    }
  }

  private func answer(
    _ body: JSONCursor, _ caller: Caller, _ endpoint: RequestRoute.DeviceEndpoint,
    _ authenticator: ScopeAuthenticator, query: String?
  ) async throws -> Response {
    switch endpoint {
    case .create: return try await api.tokens.create(body, caller)
    case .register: return try await api.tokens.register(body, caller, authenticator)
    case .unregister: return try await api.tokens.unregister(body, caller)
    case .list: return try await api.tokens.devices(body, query: query, caller)
    case .notifications: return try await api.notifications.notifications(body, caller)
    case .markRead: return try await api.notifications.markRead(body, caller)
    case .badge: return try await api.notifications.setBadge(body, caller, authenticator)
    case .acknowledge: return try api.tokens.acknowledge(body, caller)
    }
  }

  private func answer(
    _ body: JSONCursor, _ caller: Caller, _ endpoint: RequestRoute.DatabaseEndpoint,
    _ database: Database,
    query: String?
  ) async throws -> Response {
    switch endpoint {
    case .subscriptionsModify:
      return try await api.subscriptions.modify(body, database, caller)
    case .subscriptionsList:
      let list = try ListRequest(body, query: query, api.limits)
      return try await api.subscriptions.list(list, database, caller)
    case .subscriptionsLookup:
      return try await api.subscriptions.lookUp(body, database, caller)
    case .zonesList: return try await api.zones.list(database, body, query: query, caller)
    case .zonesLookup: return try await api.zones.lookUp(body, database, caller)
    case .changesDatabase:
      return try await api.databaseChanges.changes(body, database, caller, names: .new)
    case .zonesChanges:
      return try await api.databaseChanges.changes(body, database, caller, names: .old)
    case .changesZone: return try await api.zoneChanges.changes(body, database, caller)
    case .recordsChanges: return try await api.zoneChanges.recordChanges(body, database, caller)
    }
  }

  private func authenticator(of scope: Scope) throws(WireError) -> ScopeAuthenticator {
    guard let authenticator = api.access.authenticator(of: scope) else { throw Self.nothingHere }
    return authenticator
  }

  /// Authenticates the caller, then reads the body, so that no unauthenticated body is read. The
  /// body counts against the limit of bodies until the request is answered, and the answer counts
  /// against the limit of answers until it has left for the network.
  private func open(
    _ request: Request, _ authenticator: ScopeAuthenticator, on channel: any Channel, writes: Bool,
    _ answer: (JSONCursor, Caller) async throws -> Response
  ) async throws -> Response {
    let user = try await api.authentication.user(of: request, authenticator, on: channel)
    let id = CallerID.user(authenticator.scope, user)
    if writes { try api.fairness.write(by: id, at: api.clock.boot()) }
    let place = try api.fairness.begin(for: id)
    let answers = try api.answers.room(for: id)
    let room = api.bodies.room(for: id)
    defer { room.leave() }
    let bytes =
      request.method == .get
      ? [] : try await room.collect(request, upTo: api.limits.bodyBytes)
    // A missing body means the same as an empty object.
    let body = try await api.turns.read(bytes.count, of: id) {
      try JSONTree(bytes.isEmpty ? Array("{}".utf8) : bytes).root
    }
    guard body.isObject else { throw WireError(.badRequest, "the body must be a JSON object") }
    try body.refuseOtherSpellings(of: KnownMembers.request)
    let client = try NamedClient.read(query: request.uri.query, body)
    let caller = Caller(
      scope: authenticator.scope, user: user, client: client, until: api.feeds.patience,
      answer: answers)
    let response = try await answer(body, caller)
    try answers.grow(to: response.body.contentLength ?? 0, isDone: writes)
    return response.holding(place, answers)
  }

  private static let nothingHere = WireError(
    .notFound, "there is nothing at this address; container, environment, database and path count")
}

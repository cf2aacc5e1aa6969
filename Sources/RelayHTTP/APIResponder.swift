package import Hummingbird
import HTTPTypes
import NIOCore
import RelayCore
import RelayEngine
import RelayWire

/// Leads each request of the API listener to its door.
///
/// Addresses are few and fixed, and the contract wants 405 with `Allow` where the method is wrong,
/// so the table is ours and not a router's.
package struct APIResponder: HTTPResponder {
  package typealias Context = DoorContext

  private let doors: Doors

  package init(doors: Doors) { self.doors = doors }

  /// - Throws: only what breaks the connection; everything else is an answer.
  package func respond(
    to request: Request, context: DoorContext
  ) async throws -> Response {
    let route = Route(path: request.uri.path)
    let page = CrossOrigin(request, route, doors)
    var response: Response
    do {
      response = try await answer(request, route, from: page, on: context.channel)
    } catch let error as WireError {
      response = error.response
    } catch let problem as JSONProblem {
      response = WireError(problem).response
    }
    page?.mark(&response.headers)
    return response
  }

  private func answer(
    _ request: Request, _ route: Route?, from page: CrossOrigin?, on channel: any Channel
  ) async throws -> Response {
    guard let route else { throw Self.nothingHere }
    if let page, CrossOrigin.isPreflight(request) {
      if let scope = route.scope { _ = try gate(to: scope) }
      return try page.preflight(route)
    }
    guard route.methods.contains(request.method) else {
      throw WireError.wrongMethod(route.methods)
    }
    switch route {
    case .live: return doors.live()
    case .ready: return doors.ready()
    case .courier(let token):
      return try await doors.hold(token, request, from: page, on: channel)
    case .events(let scope):
      return try await doors.take(request, try gate(to: scope), on: channel)
    case .device(let scope, let door):
      let gate = try gate(to: scope)
      return try await open(request, gate, on: channel, writes: door.writes) { body, caller in
        try await answer(body, caller, door, gate)
      }
    case .database(let scope, let database, let door):
      let gate = try gate(to: scope)
      return try await open(request, gate, on: channel, writes: door.writes) { body, caller in
        try await answer(body, caller, door, database, query: request.uri.query)
      }
    }
  }

  private func answer(
    _ body: JSONCursor, _ caller: Caller, _ door: Route.DeviceDoor, _ gate: ScopeGate
  ) async throws -> Response {
    switch door {
    case .create: return try await doors.create(body, caller)
    case .register: return try await doors.register(body, caller, gate)
    case .unregister: return try await doors.unregister(body, caller)
    case .list: return try await doors.devices(caller)
    case .notifications: return try await doors.notifications(body, caller)
    case .markRead: return try await doors.markRead(body, caller)
    case .badge: return try await doors.setBadge(body, caller, gate)
    case .acknowledge: return try doors.acknowledge(body, caller)
    }
  }

  private func answer(
    _ body: JSONCursor, _ caller: Caller, _ door: Route.DatabaseDoor, _ database: Database,
    query: String?
  ) async throws -> Response {
    switch door {
    case .subscriptionsModify:
      return try await doors.modifySubscriptions(body, database, caller)
    case .subscriptionsList:
      let list = try ListRequest(body, query: query, doors.limits)
      return try await doors.listSubscriptions(list, database, caller)
    case .subscriptionsLookup:
      return try await doors.lookUpSubscriptions(body, database, caller)
    case .zonesList: return try await doors.listZones(database, body, query: query, caller)
    case .zonesLookup: return try await doors.lookUpZones(body, database, caller)
    case .changesDatabase:
      return try await doors.databaseChanges(body, database, caller, names: .new)
    case .zonesChanges:
      return try await doors.databaseChanges(body, database, caller, names: .old)
    case .changesZone: return try await doors.zoneChanges(body, database, caller)
    case .recordsChanges: return try await doors.recordChanges(body, database, caller)
    }
  }

  private func gate(to scope: Scope) throws(WireError) -> ScopeGate {
    guard let gate = doors.access.gate(to: scope) else { throw Self.nothingHere }
    return gate
  }

  /// Who asks, then what: a stranger's body is not read, and the bodies that are read count until
  /// they are answered, the answers until they have left.
  private func open(
    _ request: Request, _ gate: ScopeGate, on channel: any Channel, writes: Bool,
    _ answer: (JSONCursor, Caller) async throws -> Response
  ) async throws -> Response {
    let user = try await doors.user(of: request, gate, on: channel)
    let id = CallerID.user(gate.scope, user)
    if writes { try doors.fairness.write(by: id, at: doors.clock.boot()) }
    let place = try doors.fairness.begin(for: id)
    let answers = try doors.answers.room(for: id)
    let room = doors.bodies.room(for: id)
    defer { room.leave() }
    let bytes =
      request.method == .get
      ? [] : try await room.collect(request, upTo: doors.limits.bodyBytes)
    // No body at all says as little as an empty object.
    let body = try await doors.turns.read(bytes.count, of: id) {
      try JSONTree(bytes.isEmpty ? Array("{}".utf8) : bytes).root
    }
    guard body.isObject else { throw WireError(.badRequest, "the body must be a JSON object") }
    try body.refuseOtherSpellings(of: KnownMembers.request)
    let client = try NamedClient.read(query: request.uri.query, body)
    let caller = Caller(
      scope: gate.scope, user: user, client: client, until: doors.patience, answer: answers)
    let response = try await answer(body, caller)
    try answers.grow(to: response.body.contentLength ?? 0, isDone: writes)
    return response.holding(place, answers)
  }

  private static let nothingHere = WireError(
    .notFound, "there is nothing at this address; container, environment, database and path count")
}

package import Hummingbird
package import NIOCore
package import RelayCore
package import RelayEngine
import RelayWire

/// Answers the requests of devices, producers and health checks, and the polls and streams of the
/// courier: finds the endpoint of each request, authenticates each request of a device and reads
/// its body, and passes each request to the controller of its resource.
///
/// The relay has its own table of paths and uses no router: the paths are few and fixed, and a
/// request with a wrong method must be answered with 405 and `Allow`.
package final class API: RequestResponder {
  private let relay: any RelayService
  private let access: ScopeRegistry
  private let clock: any ClockReader
  private let limits: HTTPLimits
  let fairness: Fairness
  let bodies: BodyMemoryLimit
  let answers: AnswerMemoryLimit
  /// Lets callers take turns to read large bodies.
  private let turns = ReadingTurns()
  let store: StoreAccess
  private let authentication: CallerAuthentication

  private let tokens: TokensController
  private let subscriptions: SubscriptionsController
  private let zones: ZonesController
  private let databaseChanges: DatabaseChangesController
  private let zoneChanges: ZoneChangesController
  private let notifications: NotificationsController
  private let events: EventsController
  let couriers: CourierController

  package init(
    relay: any RelayService, reader: any FeedReader, reads: StoreReads,
    keys: any TokenKeys & IdentityKeys, clock: any ClockReader, access: ScopeRegistry,
    courier: Courier, settings: HTTPSettings
  ) {
    let limits = settings.limits
    (self.relay, self.access, self.clock, self.limits) = (relay, access, clock, limits)
    fairness = Fairness(limits)
    bodies = BodyMemoryLimit(limits)
    answers = AnswerMemoryLimit(limits)
    store = StoreAccess(
      relay: relay, reader: reader, reads: reads,
      looks: CallerTurns(places: limits.storeLooks, share: limits.storeLooksPerCaller),
      clock: clock, answerWithin: limits.answerWithin)
    authentication = CallerAuthentication(fairness: fairness, clock: clock, limits: limits)
    let submissions = Submissions(relay: relay, fairness: fairness, clock: clock)
    let feeds = FeedAccess(
      store: store, submissions: submissions, relay: relay, keys: keys, limits: limits)
    let addresses = CourierAddresses(
      keys: keys, clock: clock, publicURL: settings.publicURL, limits: limits)

    tokens = TokensController(
      store: store, submissions: submissions, relay: relay, keys: keys, courier: addresses,
      limits: limits)
    subscriptions = SubscriptionsController(
      store: store, submissions: submissions, limits: limits)
    zones = ZonesController(store: store, feeds: feeds, limits: limits)
    databaseChanges = DatabaseChangesController(
      store: store, feeds: feeds, relay: relay, keys: keys, limits: limits)
    zoneChanges = ZoneChangesController(store: store, feeds: feeds, relay: relay, limits: limits)
    notifications = NotificationsController(
      store: store, feeds: feeds, submissions: submissions, relay: relay, limits: limits)
    events = EventsController(
      relay: relay, store: store, authentication: authentication, keys: keys, fairness: fairness,
      bodies: bodies, answers: answers, turns: turns, limits: limits)
    couriers = CourierController(
      courier: courier, store: store, relay: relay, addresses: addresses, access: access,
      fairness: fairness, clock: clock, limits: limits)
  }

  package func respond(to request: Request, on channel: any Channel) async throws -> Response {
    let route = RequestRoute(path: request.uri.path)
    let page = CrossOrigin(request, route, access, couriers.addresses)
    var response: Response
    do {
      response = try await answer(request, route, from: page, on: channel)
    } catch {
      response = try WireError(answering: error).response
    }
    page?.mark(&response.headers)
    return response
  }

  private func answer(
    _ request: Request, _ route: RequestRoute?, from page: CrossOrigin?, on channel: any Channel
  ) async throws -> Response {
    guard let route else { throw WireError.nothingHere }
    if let page, CrossOrigin.isPreflight(request) {
      if let scope = route.scope { _ = try authenticator(of: scope) }
      return try page.preflight(route)
    }
    guard route.methods.contains(request.method) else { throw WireError.wrongMethod(route.methods) }
    switch route {
    case .live: return Response(.object { $0.boolean("live", true) })
    case .ready: return ready
    case .courier(let token):
      return try await couriers.hold(token, request, from: page, on: channel)
    case .events(let scope):
      return try await events.take(request, try authenticator(of: scope), on: channel)
    case .device(let scope, let endpoint):
      return try await open(request, scope, on: channel, writes: endpoint.writes) {
        try await answer($0, endpoint)
      }
    case .database(let scope, let database, let endpoint):
      return try await open(request, scope, on: channel, writes: endpoint.writes) {
        try await answer($0, database, endpoint)
      }
    }
  }

  private func answer(
    _ request: DeviceRequest, _ endpoint: RequestRoute.DeviceEndpoint
  ) async throws -> Response {
    switch endpoint {
    case .create: try await tokens.create(request)
    case .register: try await tokens.register(request)
    case .unregister: try await tokens.unregister(request)
    case .list: try await tokens.list(request)
    case .notifications: try await notifications.changes(request)
    case .markRead: try await notifications.markRead(request)
    case .badge: try await notifications.setBadge(request)
    case .acknowledge: try tokens.acknowledge(request)
    }
  }

  private func answer(
    _ request: DeviceRequest, _ database: Database, _ endpoint: RequestRoute.DatabaseEndpoint
  ) async throws -> Response {
    switch endpoint {
    case .subscriptionsModify: try await subscriptions.modify(request, database)
    case .subscriptionsList: try await subscriptions.list(request, database)
    case .subscriptionsLookup: try await subscriptions.lookUp(request, database)
    case .zonesList: try await zones.list(request, database)
    case .zonesLookup: try await zones.lookUp(request, database)
    case .changesDatabase: try await databaseChanges.changes(request, database, names: .new)
    case .zonesChanges: try await databaseChanges.changes(request, database, names: .old)
    case .changesZone: try await zoneChanges.changes(request, database)
    case .recordsChanges: try await zoneChanges.recordChanges(request, database)
    }
  }

  private func authenticator(of scope: Scope) throws(WireError) -> ScopeAuthenticator {
    guard let authenticator = access.authenticator(of: scope) else { throw .nothingHere }
    return authenticator
  }

  /// Authenticates the caller, then reads the body, so that no unauthenticated body is read. The
  /// body counts against the limit of bodies until the request is answered, and the answer counts
  /// against the limit of answers until it has left for the network.
  private func open(
    _ request: Request, _ scope: Scope, on channel: any Channel, writes: Bool,
    _ answer: (DeviceRequest) async throws -> Response
  ) async throws -> Response {
    let authenticator = try authenticator(of: scope)
    let user = try await authentication.user(of: request, authenticator, on: channel)
    let caller = CallerID.user(authenticator.scope, user)
    if writes { try fairness.write(by: caller, at: clock.boot()) }
    let place = try fairness.begin(for: caller)
    let answerRoom = try answers.room(for: caller)
    let room = bodies.room(for: caller)
    defer { room.leave() }
    let bytes =
      request.method == .get ? [] : try await room.collect(request, upTo: limits.bodyBytes)
    // A missing body means the same as an empty object.
    let body = try await turns.read(bytes.count, of: caller) {
      try JSONTree(bytes.isEmpty ? Array("{}".utf8) : bytes).root
    }
    guard body.isObject else { throw WireError(.badRequest, "the body must be a JSON object") }
    try body.refuseOtherSpellings(of: KnownMembers.request)
    let query = request.uri.query
    let response = try await answer(
      DeviceRequest(
        authenticator: authenticator, user: user,
        client: try QueryParameters.client(query, body), body: body, query: query,
        until: store.patience, answer: answerRoom))
    try answerRoom.grow(to: response.body.contentLength ?? 0, isDone: writes)
    return response.holding(place, answerRoom)
  }

  /// The answer of `/health/ready`: whether requests are served, and why not. `status` reports all
  /// other problems.
  private var ready: Response {
    let readiness = relay.readiness
    let error = WireError(
      .tryAgainLater, "not ready: \(readiness.reasons.joined(separator: "; "))",
      retryAfterSeconds: Unavailable(notReady: readiness).retryAfterSeconds)
    let json = JSONWriter.object { json in
      json.boolean("ready", readiness.isReady)
      json.strings("reasons", readiness.reasons)
      if !readiness.isReady { error.write(into: &json) }
    }
    return readiness.isReady ? Response(json) : error.response(json)
  }
}

extension WireError {
  fileprivate static let nothingHere = WireError(
    .notFound, "there is nothing at this address; container, environment, database and path count")
}

package import Hummingbird
package import NIOCore
package import RelayCore
package import RelayEngine
import RelayWire

/// Answers the requests of devices, producers, couriers and health checks: finds the endpoint of
/// each request, and has what all endpoints share. The endpoints are in extensions.
///
/// The relay has its own table of paths and uses no router: the paths are few and fixed, and a
/// request with a wrong method must be answered with 405 and `Allow`.
package final class API: RequestResponder {
  let relay: any RelayService
  let reader: any FeedReader
  let reads: StoreReads
  let keys: any TokenKeys & IdentityKeys
  let clock: any ClockReader
  let access: ScopeRegistry
  let limits: HTTPLimits
  let bodies: BodyMemoryLimit
  let answers: AnswerMemoryLimit
  let fairness: Fairness
  /// Turns to read large bodies.
  let turns = ReadingTurns()
  /// Turns to read the store. Without turns, the many pages of one user would take all of the
  /// store's readers and all threads.
  let looks: CallerTurns
  let courier: Courier
  let courierAddresses: CourierAddresses

  package init(
    relay: any RelayService, reader: any FeedReader, reads: StoreReads,
    keys: any TokenKeys & IdentityKeys, clock: any ClockReader, access: ScopeRegistry,
    courier: Courier, settings: HTTPSettings
  ) {
    self.relay = relay
    self.reader = reader
    self.reads = reads
    self.keys = keys
    self.clock = clock
    self.access = access
    self.courier = courier
    limits = settings.limits
    bodies = BodyMemoryLimit(limits)
    answers = AnswerMemoryLimit(limits)
    fairness = Fairness(limits)
    looks = CallerTurns(places: limits.storeLooks, share: limits.storeLooksPerCaller)
    courierAddresses = CourierAddresses(
      keys: keys, clock: clock, publicURL: settings.publicURL, limits: limits)
  }

  package func respond(to request: Request, on channel: any Channel) async throws -> Response {
    let route = RequestRoute(path: request.uri.path)
    let page = CrossOrigin(request, route, self)
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
    case .courier(let token): return try await hold(token, request, from: page, on: channel)
    case .events(let scope):
      return try await takeEvents(request, try authenticator(of: scope), on: channel)
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
    case .create: try await createToken(request)
    case .register: try await register(request)
    case .unregister: try await unregister(request)
    case .list: try await listDevices(request)
    case .notifications: try await notifications(request)
    case .markRead: try await markRead(request)
    case .badge: try await setBadge(request)
    case .acknowledge: try acknowledgeWake(request)
    }
  }

  private func answer(
    _ request: DeviceRequest, _ database: Database, _ endpoint: RequestRoute.DatabaseEndpoint
  ) async throws -> Response {
    switch endpoint {
    case .subscriptionsModify: try await modifySubscriptions(request, database)
    case .subscriptionsList: try await listSubscriptions(request, database)
    case .subscriptionsLookup: try await lookUpSubscriptions(request, database)
    case .zonesList: try await listZones(request, database)
    case .zonesLookup: try await lookUpZones(request, database)
    case .changesDatabase: try await databaseChanges(request, database, names: .new)
    case .zonesChanges: try await databaseChanges(request, database, names: .old)
    case .changesZone: try await zoneChanges(request, database)
    case .recordsChanges: try await recordChanges(request, database)
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
    let user = try await user(of: request, authenticator, on: channel)
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
        until: patience, answer: answerRoom))
    try answerRoom.grow(to: response.body.contentLength ?? 0, isDone: writes)
    return response.holding(place, answerRoom)
  }

  /// The answer of `/health/ready`: whether requests are served, and why not. `status` reports all
  /// other problems.
  private var ready: Response {
    let readiness = relay.readiness
    let error = WireError(
      .tryAgainLater, "not ready: \(readiness.reasons.joined(separator: "; "))",
      retryAfterSeconds: 1)
    let json = JSONWriter.object { json in
      json.boolean("ready", readiness.isReady)
      json.strings("reasons", readiness.reasons)
      if !readiness.isReady { error.write(into: &json) }
    }
    return readiness.isReady ? Response(json) : error.response(json)
  }
}

extension API {
  /// Submits a caller's facts to the relay, within the caller's shares.
  func submit(_ facts: [Fact], for caller: CallerID) async throws -> [Answer] {
    guard !facts.isEmpty else {
      // A draining relay takes nothing more. A sender whose events are all invalid gets the same
      // error as any other sender.
      guard relay.readiness.isReady else { throw Unavailable(notReady: relay.readiness) }
      return []
    }
    let taken = try fairness.take(facts, for: caller)
    defer { fairness.giveBack(taken, of: caller) }
    return try await relay.submit(facts, by: caller.submitter)
  }

  /// The deadline of a request that begins to read now, on the boot clock. The deadline limits the
  /// waits for folds and for turns together.
  var patience: Instant { clock.boot() + limits.answerWithin }

  /// Reads the store once, when it is the caller's turn.
  func read<Value>(
    for caller: CallerID, until: Instant, _ reading: () async throws -> Value
  ) async throws -> Value {
    do {
      // One request may read two hundred times, so the deadline is checked even if a place is free.
      if clock.boot() < until,
        let value = try await looks.work(for: caller, until: until, reading)
      {
        reads.worked()
        return value
      }
    } catch let error as StoreError {
      reads.failed(error)
      throw error
    }
    throw Unavailable(.storeSlow, retryAfterSeconds: 5)
  }
}

extension WireError {
  fileprivate static let nothingHere = WireError(
    .notFound, "there is nothing at this address; container, environment, database and path count")
}

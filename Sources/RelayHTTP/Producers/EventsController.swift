import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore
import RelayEngine
import RelayWire

/// Answers `/events/1/…`, to which producers report changes.
struct EventsController: Sendable {
  let relay: any RelayService
  let store: StoreAccess
  let authentication: CallerAuthentication
  let keys: any TokenKeys & IdentityKeys
  let fairness: Fairness
  let bodies: BodyMemoryLimit
  let answers: AnswerMemoryLimit
  let turns: ReadingTurns
  let limits: HTTPLimits

  /// Accepts a producer's changes. All valid changes of a request are submitted together.
  func take(
    _ request: Request, _ authenticator: ScopeAuthenticator, on channel: any Channel
  ) async throws -> Response {
    var arrival = try await arrival(of: request, authenticator, on: channel)
    let refused = try await withoutRoom(arrival.facts, of: arrival.caller)
    arrival.reject(refused, known: try await known(among: refused.keys.sorted(), arrival.facts))
    relay.refused(changes: arrival.rejected.count)
    let answers = try await submit(arrival.facts, for: arrival.caller)
    for (item, answer) in zip(arrival.items, answers) {
      switch answer {
      case .duplicate: arrival.duplicates += 1
      case .refused(let refusal): arrival.reject(item.index, item.id, WireError(refusal))
      case .accepted, .registered, .subscriptions, .done: arrival.accepted += 1
      }
    }
    let response = arrival.response
    try arrival.room.grow(to: response.body.contentLength ?? 0, isDone: true)
    return response.holding(arrival.place, arrival.room)
  }

  /// Submits changes to the relay, within the producer's share of the inbox.
  private func submit(_ changes: [Fact], for caller: CallerID) async throws -> [Answer] {
    guard !changes.isEmpty else {
      // A draining relay takes nothing more. A sender whose events are all invalid gets the same
      // error as any other sender.
      guard relay.readiness.isReady else { throw Unavailable(notReady: relay.readiness) }
      return []
    }
    let taken = try fairness.take(changes, for: caller)
    defer { fairness.giveBack(taken, of: caller) }
    return try await relay.submit(changes, by: caller.submitter)
  }

  /// Reads a request into its changes and its rejected events. The body and its parsed form are
  /// released when this method returns, so that a request that waits for the relay keeps only its
  /// changes in memory.
  private func arrival(
    of request: Request, _ authenticator: ScopeAuthenticator, on channel: any Channel
  ) async throws -> Arrival {
    let claim = try authentication.claim(of: request, authenticator, on: channel)
    let format = try EventFormat(of: request)
    try format.check(for: claim)
    let remote = claim.remote(on: channel)
    let claimed = claim.caller(in: authenticator.scope, from: remote)
    let room = bodies.room(for: claimed)
    defer { room.leave() }
    let bytes = try await room.collect(request, upTo: limits.bodyBytes)
    let producer = try await turns.read(bytes.count, of: claimed) { [authentication] in
      try authentication.producer(claim, sending: bytes, from: remote)
    }
    let caller = CallerID.producer(authenticator.scope, producer)
    let begun = Arrival(
      caller: caller, place: try fairness.begin(for: caller),
      room: try answers.room(for: caller))
    try room.pass(to: caller)
    let reader = EventReader(
      scope: authenticator.scope, producer: producer, ids: keys, limits: limits,
      fetchCapacity: authenticator.fetchCapacity(of: producer))
    return try await turns.read(bytes.count, of: caller) {
      try self.read(
        format.events(in: bytes, request.headers, self.limits), format, reader, into: begun)
    }
  }

  private func read(
    _ events: [ArrivedEvent], _ format: EventFormat, _ reader: EventReader, into begun: Arrival
  ) throws -> Arrival {
    var arrival = begun
    arrival.facts.reserveCapacity(events.count)
    for (index, event) in events.enumerated() {
      if event.bytes > limits.eventBytes {
        let why = WireError(
          .quotaExceeded,
          "the event has \(event.bytes) bytes, and one may have \(limits.eventBytes); send its "
            + "record without the fields that no subscription asks for")
        guard format.isBatch else {
          relay.refused(changes: 1)
          throw why
        }
        arrival.reject(index, event.id, why)
        continue
      }
      do throws(JSONProblem) {
        arrival.facts.append(.change(try event.change(by: reader)))
        arrival.items.append((index, event.id))
      } catch {
        arrival.reject(index, event.id, WireError(error))
      }
    }
    return arrival
  }
}

// MARK: Room in zones and databases

extension EventsController {
  /// The refusals of the changes that would bring a zone or a database beyond its limit, by the
  /// index of the change in `facts`. Reads only feeds that are near their limit. Before the method
  /// reads such a feed, it waits until the feed shows every fact answered before this call.
  private func withoutRoom(
    _ facts: [Fact], of caller: CallerID
  ) async throws -> [Int: Refusal] {
    guard store.reader.isAnyNearlyFull else { return [:] }
    var asked: [FeedKey: Set<Subject>] = [:]
    for case .change(let change) in facts {
      for place in change.places + change.removed where store.reader.isNearlyFull(place.feed) {
        asked[place.feed, default: []].insert(place.subject)
      }
    }
    guard !asked.isEmpty else { return [:] }
    var rooms: [FeedKey: Holdings] = [:]
    let until = store.patience
    for (feed, subjects) in asked {
      try await store.visible([.feed(feed)], until: until)
      rooms[feed] = try await store.read(for: caller, until: until) {
        try await store.reader.holdings(of: feed, among: subjects)
      }
    }
    var refused: [Int: Refusal] = [:]
    for (index, fact) in facts.enumerated() {
      guard case .change(let change) = fact else { continue }
      if let refusal = Self.refusal(of: change, rooms) {
        refused[index] = refusal
        continue
      }
      for place in change.places { rooms[place.feed]?.add(place.subject) }
      for gone in change.removed { rooms[gone.feed]?.remove(gone.subject) }
      if change.endsZone { rooms[change.zoneFeed]?.removeAll() }
    }
    return refused
  }

  /// Those of the changes at `places` that the relay has accepted before. A repeated change is a
  /// duplicate, even if there is no room for it now.
  private func known(among places: [Int], _ facts: [Fact]) async throws -> Set<Int> {
    var asked: [(place: Int, change: Change)] = []
    for place in places {
      if case .change(let change) = facts[place] { asked.append((place, change)) }
    }
    guard !asked.isEmpty else { return [] }
    let known = try await relay.known(asked.map(\.change))
    return Set(zip(asked, known).filter(\.1).map(\.0.place))
  }

  private static func refusal(of change: Change, _ rooms: [FeedKey: Holdings]) -> Refusal? {
    for place in change.places {
      guard let room = rooms[place.feed], !room.hasRoom(for: place.subject) else { continue }
      if case .zone = place.feed.kind { return .tooManyRecords(max: room.max) }
      return .tooManyZones(max: room.max)
    }
    return nil
  }
}

// MARK: One request

/// What one request contains, and the outcome of its events.
private struct Arrival {
  var caller: CallerID
  let place: RequestPlace
  /// The memory reserved for the request's answer.
  let room: AnswerRoom
  var facts: [Fact] = []
  /// The index and id of each fact's event.
  var items: [(index: Int, id: String?)] = []
  var accepted = 0
  var duplicates = 0
  var rejected: [(index: Int, id: String?, why: WireError)] = []

  mutating func reject(_ index: Int, _ id: String?, _ why: WireError) {
    rejected.append((index, id, why))
  }

  /// - Parameters:
  ///   - refused: the refusals, by the index of the refused fact in `facts`.
  ///   - known: the indexes of those refused facts that the relay has accepted before.
  mutating func reject(_ refused: [Int: Refusal], known: Set<Int>) {
    guard !refused.isEmpty else { return }
    duplicates += known.count
    for (place, refusal) in refused where !known.contains(place) {
      reject(items[place].index, items[place].id, WireError(refusal))
    }
    let left = facts.indices.filter { refused[$0] == nil }
    (facts, items) = (left.map { facts[$0] }, left.map { items[$0] })
  }

  /// The answer. Its status is 400 if events were rejected and no event was accepted or a
  /// duplicate; the body then also has an error's members. Otherwise the status is 202. A repeated
  /// request gets the same status, because an event accepted the first time is a duplicate the
  /// second time.
  var response: Response {
    let failed = accepted == 0 && duplicates == 0 && !rejected.isEmpty
    let summary = WireError(.badRequest, "no event was accepted or known; see rejected")
    let json = JSONWriter.object { json in
      json.integer("accepted", accepted)
      json.integer("duplicates", duplicates)
      // Rejected events are listed in the order of the request.
      json.objects("rejected", rejected.sorted { $0.index < $1.index }) { json, item in
        json.integer("index", item.index)
        json.string("id", ifAny: item.id)
        json.string("code", item.why.code.rawValue)
        json.string("reason", item.why.reason)
      }
      if failed { summary.write(into: &json) }
    }
    return failed ? summary.response(json) : Response(json, status: .accepted)
  }
}

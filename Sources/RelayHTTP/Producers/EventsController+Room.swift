import RelayCore
import RelayEngine

extension EventsController {
  /// The refusals of the changes that would bring a zone or a database beyond its limit, by the
  /// index of the change in `facts`. Reads only feeds that are near their limit, when every fact
  /// answered before this call is visible in them.
  func withoutRoom(
    _ facts: [Fact], of caller: CallerID
  ) async throws(WireError) -> [Int: Refusal] {
    var asked: [FeedKey: Set<Subject>] = [:]
    for case .change(let change) in facts {
      for place in change.places + change.removed where feeds.reader.isNearlyFull(place.feed) {
        asked[place.feed, default: []].insert(place.subject)
      }
    }
    guard !asked.isEmpty else { return [:] }
    var rooms: [FeedKey: Holdings] = [:]
    let until = feeds.patience
    for (feed, subjects) in asked {
      try await feeds.visible(.feed(feed), until: until)
      rooms[feed] = try await feeds.read(for: caller, until: until) { () async throws(StoreError) in
        try await feeds.reader.holdings(of: feed, among: subjects)
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
  func known(among places: [Int], _ facts: [Fact]) async throws(WireError) -> Set<Int> {
    var asked: [(place: Int, change: Change)] = []
    for place in places {
      if case .change(let change) = facts[place] { asked.append((place, change)) }
    }
    guard !asked.isEmpty else { return [] }
    do throws(Unavailable) {
      let known = try await relay.known(asked.map(\.change))
      return Set(zip(asked, known).filter(\.1).map(\.0.place))
    } catch {
      throw WireError(error)
    }
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

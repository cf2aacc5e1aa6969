@testable import RelayCore
import Testing

/// P2: a client that follows a feed reaches the feed's state, at any rhythm and with any page size.
@Suite struct FollowingTests {
  private let eras = Eras([Era(id: 7, first: Ordinal(1))])

  /// A feed and one client that follows it.
  private struct World {
    var entries: [Subject: Entry] = [:]
    var head = Position.zero
    var model: [Subject: String] = [:]
    var held: [Subject: String] = [:]
    var place: FeedCursor?
    /// The author of each change, and, for each subject, how many changes there were when the
    /// client last saw the subject.
    var authors: [(subject: Subject, device: ClientID?)] = []
    var seen: [Subject: Int] = [:]
    var caughtUp = 0

    mutating func apply(_ symbol: Int, _ ordinal: UInt64, by device: ClientID? = nil) {
      let subject = Subject.record("\(symbol / 3)")
      let verb = FeedHistory.verbs[symbol % 3]
      let mutation = FeedMutation(
        verb: verb, position: Sample.position(ordinal), device: device, time: .zero,
        detail: .record(type: "T", tag: "\(ordinal)"))
      let entry = Fold.fold(entries[subject], Delta(mutation), subject: subject)
      entries[subject] = entry
      head = max(head, entry.life.position)
      model[subject] = verb == .deleted ? nil : "\(ordinal)"
      // The deletion of a deleted record changes no entry, so no entry shows its author.
      authors.append((entry.life.position == mutation.position ? subject : .record("none"), device))
    }

    mutating func forget() { (place, held, seen, caughtUp) = (nil, [:], [:], 0) }

    /// Checks P8: no other device has changed an entry marked own since the client saw the entry.
    private mutating func checkOwn(_ entry: Entry, since: Position) {
      let first = max(seen[entry.subject] ?? 0, caughtUp)
      let others = authors.indices.dropFirst(first).contains {
        authors[$0].subject == entry.subject && authors[$0].device != FeedHistory.devices[0]
      }
      if others && entry.life.isOwn(of: FeedHistory.devices[0], since: since) {
        Issue.record("marked own, and another client changed it: \(entry)")
      }
      seen[entry.subject] = authors.count
    }

    /// - Returns: true if there is more.
    mutating func fetch(_ eras: Eras, limit: Int, looks: Int = PageQuery.looksMax) -> Bool {
      let state = FeedState(head: head)
      guard
        case .page(let page) = Page.read(
          Array(entries.values), of: state, eras: eras, after: place, limit: limit,
          looks: looks)
      else {
        Issue.record("a followed token expired: \(String(describing: place))")
        return false
      }
      if page.entries.count > limit { Issue.record("a page of \(page.entries.count)") }
      if page.hasMore && page.next.position <= (place?.position ?? .zero) {
        Issue.record("a page with more did not advance")
      }
      if !page.hasMore && page.next.position != head { Issue.record("complete, not at the head") }
      for entry in page.entries {
        guard case .record(_, let tag, _) = entry.detail else { continue }
        checkOwn(entry, since: page.since)
        held[entry.subject] = entry.life.isPresent ? tag : nil
      }
      place = page.next
      if !page.hasMore { caughtUp = authors.count }
      return page.hasMore
    }
  }

  @Test(arguments: 1...3) func `a client that follows a feed ends with the net state`(limit: Int) {
    let length = 4
    strings(over: 6, length: length) { word in
      for rhythm in 0..<(1 << length) {
        var world = World()
        for (index, symbol) in word.enumerated() {
          world.apply(symbol, UInt64(index + 1))
          if rhythm & (1 << index) != 0 { _ = world.fetch(eras, limit: limit) }
        }
        while world.fetch(eras, limit: limit) {}
        if world.held != world.model {
          Issue.record("\(word) rhythm \(rhythm) limit \(limit): \(world.held) not \(world.model)")
          return
        }
      }
    }
  }

  /// Five records change often and at random: a client scans the feed in pages while changes are
  /// added.
  @Test func `scans in pages reach the net state while the feed moves on`() {
    var draw = SeededRandom(seed: 2)
    for round in 0..<1_500 {
      var world = World()
      let limit = 1 + draw.below(3)
      let looks = draw.chance(50) ? 1 + draw.below(4) : PageQuery.looksMax
      for ordinal in 1...UInt64(6 + draw.below(40)) {
        world.apply(draw.below(15), ordinal, by: draw.pick(FeedHistory.devices))
        if draw.chance(30) { _ = world.fetch(eras, limit: limit, looks: looks) }
        if draw.chance(3) { world.forget() }
      }
      while world.fetch(eras, limit: limit, looks: looks) {}
      if world.held != world.model {
        Issue.record("round \(round): \(world.held) is not \(world.model)")
        return
      }
    }
  }

  /// A read from the beginning of a feed does not show the deletion of a record that was gone when
  /// the read began.
  @Test func `a scan shows no deletion from before its start`() {
    var world = World()
    world.apply(0, 1)
    world.apply(3, 2)
    world.apply(5, 3)
    world.apply(6, 4)
    let first = world.fetch(eras, limit: 1)
    let second = world.fetch(eras, limit: 1)
    #expect(first && !second)
    #expect(world.held.keys.sorted { $0.text < $1.text } == [.record("0"), .record("2")])
    #expect(world.place?.scanHead == nil)
  }
}

import RelayCore
import RelayMemory

/// The large loads, and a machine with a wrong clock.
extension World {
  /// The further changes that are sent in one request with `first`.
  func companions(of first: Change) -> [Change] {
    guard first.sequence == nil, !faults.isOver, producers.loadDraw.permille(plan[.batches]) else {
      return []
    }
    return (0..<producers.loadDraw.from(1...plan.batchMax)).map { number in
      var change = first
      if producers.loadDraw.below(8) == 0 {
        change.zone.owner = producers.loadDraw.pick(people.users)
      }
      if first.database == .public { change.zone = .publicDefault }
      let name = "b\(number % 40)"
      change.event = .record(
        RecordChange(
          verb: .updated, name: name, type: "A", tag: "t\(producers.nextID).\(number)", fields: [])
      )
      change.notification = World.notification("n\(producers.nextID).\(number)")
      change.fingerprint = (producers.nextID << 16 | UInt64(number + 1)) &* 0x9e37_79b9_7f4a_7c15
      return change
    }
  }

  /// A large value that no subscription needs.
  func largeValue() -> [Field] {
    guard producers.loadDraw.permille(plan[.largeRecords]) else { return [] }
    let count = producers.loadDraw.below(plan.largeBytesMax)
    return [Field(name: "v", value: .string(String(repeating: "v", count: count)))]
  }

  /// Adds users without a phone who subscribe to public records, in all partitions.
  func addCrowd() {
    for number in 0..<plan[.crowd] {
      let subscription = Subscription(
        silent: "public", .public, .query(QueryRule(recordType: "A")))
      let user = UserID("_crowd\(number)")
      send([.subscriptions(.save(subscription), of: user, in: .public)], within: 1_000)
    }
  }

  func setClock() {
    guard faults.wallAhead != .zero else { return }
    faults.wallAhead = .zero
    faults.corrections.append(now)
  }

  /// Makes the wall clock wrong by a day or more at some starts of the daemon, which the random
  /// generator chooses. The clock is corrected within half an hour.
  func drawClock() {
    // While the store holds no time, the relay would trust a wrong clock.
    guard store.world.latest > .zero, !faults.isOver,
      producers.loadDraw.permille(plan[.wrongClocks])
    else {
      return setClock()
    }
    faults.wallAhead = producers.loadDraw.pick([
      .days(7_300), .days(3), Span(milliseconds: -86_400_000),
    ])
    at(.seconds(Int64(producers.loadDraw.from(1...1_800))), .clockSet)
  }
}

/// The checks of requests of several changes: the changes become durable together and visible
/// together.
extension World {
  /// The facts of one request that are in the journal of one partition.
  struct Share {
    var partition: PartitionID
    var first: Ordinal
    var last: Ordinal
  }

  func checkCommit(_ entries: [JournalEntry]) throws {
    let bounds = plan.relay.work.commit
    let bytes = Self.bytes(of: entries)
    try demand(
      .everythingIsBounded,
      entries.count <= bounds.facts && bytes <= bounds.bytes || isOneUnit(entries),
      "a commit of \(entries.count) facts and \(bytes) bytes")
  }

  /// The bytes of entries in the journal, which holds a message to several partitions once.
  static func bytes(of entries: [JournalEntry]) -> Int {
    var last: Forwarded.Message?
    return entries.reduce(0) { sum, entry in
      guard case .forwarded(let forwarded) = entry.fact else {
        last = nil
        return sum + entry.fact.footprint
      }
      defer { last = forwarded.message }
      let bytes = entry.fact.footprint
      return sum + (forwarded.message == last ? min(bytes, Fact.tick.footprint) : bytes)
    }
  }

  /// Whether the entries are one request's facts for one partition, one fact of the relay's own, or
  /// one message.
  private func isOneUnit(_ entries: [JournalEntry]) -> Bool {
    let batches = Set(entries.map { batch(of: $0.fact) })
    if batches.count == 1, batches.first != .some(nil) { return true }
    let messages = Set(
      entries.map { entry -> Forwarded.Message? in
        if case .forwarded(let forwarded) = entry.fact { forwarded.message } else { nil }
      })
    return entries.count == 1 || messages.count == 1 && messages.first != .some(nil)
  }

  private func batch(of fact: Fact) -> Int? {
    guard case .change(let change) = fact else { return nil }
    return producers.requests[change.fingerprint]
  }

  /// Checks that one request's facts for one partition become durable together or not at all.
  func checkWhole(_ entries: [JournalEntry]) throws {
    var parts: [Int: [PartitionID: [Ordinal]]] = [:]
    for entry in entries {
      guard let batch = batch(of: entry.fact) else { continue }
      parts[batch, default: [:]][entry.partition, default: []].append(entry.ordinal)
    }
    for (batch, partitions) in parts.sorted(by: { $0.key < $1.key }) {
      for (partition, ordinals) in partitions.sorted(by: { $0.key < $1.key }) {
        let size = operations[batch].facts.count { $0.homes.contains(partition) }
        // The request may have been sent twice.
        try demand(
          .catchUpIsWhole, ordinals.count.isMultiple(of: size),
          "\(ordinals.count) of \(size) facts of request \(batch) in one commit")
        for first in stride(from: 0, to: ordinals.count, by: size) {
          producers.shares.append(
            Share(
              partition: partition, first: ordinals[first], last: ordinals[first + size - 1]))
        }
      }
    }
  }

  /// Checks that one request's facts become visible together.
  func checkWhole(_ cut: Cut) throws {
    for partition in cut.partitions {
      for share in producers.shares where share.partition == partition.id {
        try demand(
          .catchUpIsWhole, !(share.first..<share.last).contains(partition.cursor),
          "a cut ends at \(partition.cursor), within \(share.first) to \(share.last)")
      }
      producers.shares.removeAll { $0.partition == partition.id && $0.last <= partition.cursor }
    }
  }

  /// Checks that no entry is dated after the world's time, so that nothing durable has a wrong
  /// time.
  func checkTime(_ entries: [JournalEntry]) throws {
    for entry in entries {
      try demand(
        .nothingIsVisibleBeforeItIsDurable, entry.at <= now,
        "journalled \((entry.at - now).milliseconds) ms ahead of time")
    }
  }
}

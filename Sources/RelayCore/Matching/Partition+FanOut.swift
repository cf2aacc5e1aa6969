import OrderedCollections

/// A change that concerns more users than are stepped at once goes on in slices, each a fact of
/// its own, so that recovery resumes by replay (relay.md section 7).
extension Partition {
  /// At most `limits.fanOuts`; forwarded changes wait in their outbox meanwhile.
  package var isFanOutFull: Bool { fanOuts.count >= limits.fanOuts }

  mutating func fanOut(
    _ change: Change, zonePosition: Position, _ step: Step, _ effects: inout [Effect]
  ) {
    let out = FanOut(
      origin: step.ordinal, change: change, zonePosition: zonePosition, cursor: .zero,
      since: step.at)
    // Revoked entitlements hold at once, for all (P9): the slices of earlier changes find nobody.
    if change.endsZone { return endMemberships(of: change, zonePosition, step, &effects) }
    // Changes of one subject keep their order: later ones queue behind the one that runs.
    if fanOuts.values.contains(where: { $0.subject == out.subject }) {
      fanOuts[out.origin] = out
      rows.fanOuts = true
      return
    }
    advance(out, step, &effects)
  }

  /// The next slice. One that was stepped before, repeated by a recovery, finds another cursor.
  mutating func go(on slice: Slice, _ step: Step, _ effects: inout [Effect]) {
    guard let out = fanOuts[slice.origin], out.cursor == slice.cursor else { return }
    advance(out, step, &effects)
  }

  private mutating func advance(_ out: FanOut, _ step: Step, _ effects: inout [Effect]) {
    let last = reach(out, step, &effects)
    if last == nil && fanOuts.isEmpty { return }
    rows.fanOuts = true
    guard let last else {
      fanOuts[out.origin] = nil
      resume(after: out, &effects)
      return
    }
    var rest = out
    rest.cursor = last
    fanOuts[out.origin] = rest
    effects.append(.journal(id, .slice(Slice(origin: out.origin, cursor: last))))
  }

  private func resume(after out: FanOut, _ effects: inout [Effect]) {
    guard let next = fanOuts.values.first(where: { $0.subject == out.subject }) else { return }
    effects.append(.journal(id, .slice(Slice(origin: next.origin, cursor: next.cursor))))
  }

  /// Reaches the next users.
  ///
  /// - Returns: the serial reached if there are more; nil when all are reached.
  private mutating func reach(
    _ out: FanOut, _ step: Step, _ effects: inout [Effect]
  ) -> Position? {
    switch (out.change.database, out.change.event) {
    case (.public, .record): return reachPublic(out, step, &effects)
    case (.public, _): return nil
    default: return reachMembers(out, step, &effects)
    }
  }

  private mutating func reachPublic(
    _ out: FanOut, _ step: Step, _ effects: inout [Effect]
  ) -> Position? {
    let page = index.publicMatches(
      out.change, after: out.cursor, before: out.origin, limit: limits.fanOutSlice)
    var entries: [Int: Int] = [:]
    for hit in page.hits {
      let first = entries[hit.user, default: 0]
      entries[hit.user] = first + 1
      fire(
        [hit.held], of: hit.user, out.change, .public, zonePosition: out.zonePosition,
        first: first, step, &effects)
    }
    for hit in page.hits where hit.held.subscription.firesOnce { releaseIfUnused(hit.user) }
    return page.next
  }

  private mutating func reachMembers(
    _ out: FanOut, _ step: Step, _ effects: inout [Effect]
  ) -> Position? {
    let key = ZoneKey(scope: out.change.scope, zone: out.change.zone)
    let all = (members[key] ?? []).filter {
      $0.serial > out.cursor && $0.serial.ordinal < out.origin
    }
    for member in all.prefix(limits.fanOutSlice) {
      tell(member.user, out.change, out.zonePosition, step, &effects)
    }
    return all.count > limits.fanOutSlice ? all[limits.fanOutSlice - 1].serial : nil
  }

  /// Facts that a recovery journals so that what was under way goes on; a repeat is harmless.
  package var unfinished: [Fact] {
    var subjects: Set<Subject> = []
    return fanOuts.values.filter { subjects.insert($0.subject).inserted }
      .map { .slice(Slice(origin: $0.origin, cursor: $0.cursor)) }
  }
}

extension FanOut {
  /// What later changes queue behind: the zone; in the public database the record.
  var subject: Subject {
    guard change.database == .public, case .record(let record) = change.event else {
      return .zone(change.zone)
    }
    return .record(record.name)
  }
}

extension Change {
  var endsZone: Bool {
    guard case .zone(let change) = event else { return false }
    return change != .created
  }
}

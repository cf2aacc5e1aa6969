/// A change that concerns more users than one step may visit goes on in slices. Each slice is a
/// fact in the journal, so recovery continues the change by replay. The coordinator decides when
/// the next slice is journalled, because many partitions may have slices at the same time.
extension Partition {
  mutating func fanOut(
    _ change: Change, zonePosition: Position, _ step: Step, _ effects: inout [Effect]
  ) {
    let out = FanOut(
      origin: step.ordinal, change: change, zonePosition: zonePosition, cursor: .zero,
      since: step.at)
    // The end of a zone revokes entitlements at once (P9), so slices of earlier changes find no
    // member.
    if change.endsZone { return endMemberships(of: change, zonePosition, step, &effects) }
    // Changes of one subject keep their order: later changes wait behind the change that runs.
    if fanOuts.first(of: out.subject) != nil {
      trace(.spreading, of: change, from: out.origin, at: step.at)
      return fanOuts.keep(out)
    }
    // `part` looks at as many users as `mayFanOut` counts. So a change for which `mayFanOut`
    // returns false never goes on in slices.
    let few = part(of: out, limit: fewest, atLeast: fewest)
    guard few.next == nil else {
      work += few.work
      let begun = begun(out)
      trace(.spreading, of: change, from: out.origin, at: step.at)
      fanOuts.keep(begun)
      return effects.append(
        .journal(id, .slice(Slice(origin: out.origin, cursor: begun.cursor))))
    }
    // The users are few enough to be stepped with the change itself.
    guard let gap = policy.smearing.gap(capacity: change.fetchCapacity),
      few.users > policy.smearing.aboveHere
    else { return reach(few, out, step, &effects) }
    var hot = step
    hot.gap = gap
    reach(few.turned(by: out.fairness), out, hot, &effects)
  }

  /// For a hot change, sets the user with whom the fan-out begins. A hash draws this user, so that
  /// the users who come last are not always the same. Other fan-outs are returned unchanged.
  private func begun(_ out: FanOut) -> FanOut {
    guard isHot(out) else { return out }
    var begun = out
    if out.change.database == .public {
      begun.turn = index.publicPlace(out.change, out.fairness)
    } else {
      let all = sharing.members(of: out.change.zoneKey)
      begun.turn = all.isEmpty ? .zero : all[Int((out.fairness >> 32) % UInt64(all.count))].serial
    }
    begun.cursor = begun.turn ?? .zero
    return begun
  }

  /// Steps the next slice. If a recovery repeats a slice, the fan-out's cursor has moved on, and
  /// the slice changes nothing.
  mutating func go(on slice: Slice, _ step: Step, _ effects: inout [Effect]) {
    guard let out = fanOuts[slice.origin], out.cursor == slice.cursor else { return }
    advance(out, step, &effects)
  }

  private mutating func advance(_ out: FanOut, _ step: Step, _ effects: inout [Effect]) {
    let part = turnedPart(of: out, limit: limits.fanOutSlice)
    var step = step
    if out.turn != nil { step.gap = policy.smearing.gap(capacity: out.change.fetchCapacity) }
    reach(part, out, step, &effects)
    guard let last = part.next else {
      fanOuts.end(out)
      trace(.spread, of: out.change, from: out.origin, at: step.at)
      resume(after: out, &effects)
      return
    }
    var rest = out
    rest.cursor = last
    fanOuts.keep(rest)
    effects.append(.journal(id, .slice(Slice(origin: out.origin, cursor: last))))
  }

  private mutating func resume(after out: FanOut, _ effects: inout [Effect]) {
    guard let next = fanOuts.first(of: out.subject).map(begun) else { return }
    fanOuts.keep(next)
    effects.append(.journal(id, .slice(Slice(origin: next.origin, cursor: next.cursor))))
  }

  /// The users that one step reaches, and where the next step goes on.
  private struct Part {
    var subscribers: [SubscriptionIndex.Hit] = []
    var members: ArraySlice<ZoneSharing.Member> = []
    /// The cursor for the next step; `nil` means that these users are the last.
    var next: Position?
    /// The cost of finding these users, as `Partition.work` counts it.
    var work = 0

    /// The number of users. Either `members` or `subscribers` is empty.
    var users: Int { members.count + Set(subscribers.map(\.user)).count }

    /// The same users in the same cyclic order, beginning with a user that `draw` selects.
    func turned(by draw: UInt64) -> Part {
      var part = self
      let count = subscribers.count + members.count
      guard count > 1 else { return part }
      let turn = Int((draw >> 32) % UInt64(count))
      if members.isEmpty {
        part.subscribers = Array(subscribers[turn...] + subscribers[..<turn])
      } else {
        let first = members.startIndex + turn
        part.members = ArraySlice(members[first...] + members[..<first])
      }
      return part
    }
  }

  /// The users after the cursor. A fan-out that began at the serial `turn`, and not with the first
  /// user, continues at the first user when it has reached the last user, and ends at `turn`.
  private func turnedPart(of out: FanOut, limit: Int) -> Part {
    var part = part(of: out, limit: limit)
    guard let turn = out.turn, turn > .zero else { return part }
    if out.cursor >= turn {
      part.next = part.next ?? .zero
      return part
    }
    part.subscribers.removeAll { $0.held.serial > turn }
    part.members = part.members.prefix { $0.serial <= turn }
    if let next = part.next, next >= turn { part.next = nil }
    return part
  }

  private func part(of out: FanOut, limit: Int, atLeast: Int = 0) -> Part {
    switch (out.change.database, out.change.event) {
    case (.public, .record):
      let page = index.publicMatches(
        out.change, after: out.cursor, before: out.origin, limit: limit, atLeast: atLeast)
      return Part(subscribers: page.hits, next: page.next, work: page.work)
    case (.public, _):
      return Part()
    default:
      let key = out.change.zoneKey
      let all = sharing.members(of: key).filter {
        $0.serial > out.cursor && $0.serial.ordinal < out.origin
      }
      return Part(
        members: all.prefix(limit), next: all.count > limit ? all[limit - 1].serial : nil)
    }
  }

  private mutating func reach(
    _ part: Part, _ out: FanOut, _ step: Step, _ effects: inout [Effect]
  ) {
    work += part.work
    let before = pacers.hurried
    defer { if pacers.hurried > before { effects.append(.hurried(out.change.scope)) } }
    var entries: [Int: Int] = [:]
    for hit in part.subscribers {
      let first = entries[hit.user, default: 0]
      entries[hit.user] = first + 1
      fire(
        [hit.held], of: hit.user, out.change, .public, zonePosition: out.zonePosition,
        first: first, step, &effects)
    }
    for hit in part.subscribers where hit.held.subscription.firesOnce {
      releaseIfUnused(hit.user)
    }
    for member in part.members {
      tell(member.user, out.change, out.zonePosition, step, &effects)
    }
  }

  /// The facts that a recovery journals so that running fan-outs go on. A repeated fact changes
  /// nothing.
  package var unfinished: [Fact] {
    fanOuts.running.map { .slice(Slice(origin: $0.origin, cursor: $0.cursor)) }
  }
}

extension FanOut {
  /// A number that draws the first user. It differs from change to change, and is the same in every
  /// replay.
  var fairness: UInt64 {
    change.fingerprint &* 0x9e37_79b9_7f4a_7c15
  }

  /// The subject whose changes keep their order: the zone, or in the public database the record.
  var subject: Subject {
    guard change.database == .public, case .record(let record) = change.event else {
      return .zone(change.zone)
    }
    return .record(record.name)
  }
}

import RelayCore

/// A stream of changes; it decides when the next change comes.
struct Traffic {
  private let shape: SeasonShape
  private let gap: Span
  private var draw: SeededRandom
  /// How many changes of the current burst are left.
  private var left = 0

  init(shape: SeasonShape, gap: Span, _ draw: SeededRandom) {
    (self.shape, self.gap, self.draw) = (shape, gap, draw)
  }

  /// The time to the next change. Every shape but `night` has about the same number of changes a
  /// day.
  mutating func next(after now: Instant) -> Span {
    switch shape {
    case .steady, .flapping, .deadTokens, .hotZone: return draw.gap(gap)
    case .bursts:
      if left > 0 {
        left -= 1
        return draw.gap(.seconds(40))
      }
      left = draw.from(4...36)
      return draw.gap(gap * 20)
    case .night:
      let hour = (now - SeasonWorld.start).milliseconds / Span.hours(1).milliseconds % 24
      return draw.gap((7..<22).contains(hour) ? gap : gap * 20)
    }
  }

  /// Which of the zone's records the change is about.
  mutating func record() -> Int { draw.below(3) }
}

extension SeasonWorld {
  func scheduleChange(_ stream: Int) {
    at(traffic[stream].next(after: now), .change(stream: stream))
  }

  func produce(_ stream: Int) {
    scheduleChange(stream)
    figures.changes += 1
    if daemon == nil { late.append(stream) } else { take(change(stream)) }
  }

  func change(_ stream: Int) -> Fact {
    change(
      .record(
        RecordChange(
          verb: .updated, name: "r\(traffic[stream].record())", type: "A", tag: "t\(nextID)")),
      stream)
  }

  func change(_ event: Change.Event, _ stream: Int) -> Fact {
    nextID += 1
    return .change(
      Change(
        scope: World.scope, database: .private, zone: zone(stream), event: event, time: now,
        notification: World.notification("n\(nextID)"), fingerprint: nextID &* 0x9e37_79b9_7f4a_7c15
      ))
  }

  /// Records that a change was stepped in a partition: from now on the change pends for the phones
  /// of the users in this partition.
  func stepped(_ row: JournalEntry) {
    let change: Change
    switch row.fact {
    case .change(let own): change = own
    case .forwarded(let forwarded):
      guard case .change(let told, _) = forwarded.message else { return }
      change = told
    default: return
    }
    guard case .record = change.event,
      let stream = users.firstIndex(of: change.zone.owner)
    else { return }
    for index in phones.indices where hears(index, stream) {
      guard PartitionID.home(of: phones[index].user, in: World.scope) == row.partition,
        phones[index].isInstalled
      else { continue }
      observer.pends(
        SeasonObserver.Expected(
          ordinal: row.ordinal, at: now, reached: phones[index].reached(at: now)), index)
    }
  }
}

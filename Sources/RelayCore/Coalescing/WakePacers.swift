/// The smears of a partition's hot zones.
struct WakePacers: Sendable {
  private let id: PartitionID
  private var pacers: [ZoneKey: WakePacer] = [:]
  /// How often, since start, a smear has reached its longest time.
  private(set) var hurried: Int64 = 0

  init(of id: PartitionID) { self.id = id }

  /// How many zones have a smear; for tests.
  var count: Int { pacers.count }

  /// The fetches a second that the producer of the zone's last hot change declared; 0 if it
  /// declared none.
  func capacity(of zone: ZoneKey) -> Int { pacers[zone]?.capacity ?? 0 }

  /// Takes the next free slot of a zone. When the smear of another zone begins, ended smears are
  /// removed.
  mutating func take(
    of zone: ZoneKey, from earliest: Instant, at now: Instant, gap: Int64, longest: Span,
    capacity: Int
  ) -> Instant {
    if pacers[zone] == nil { pacers = pacers.filter { $0.value.end > now } }
    let slot = pacers[zone, default: WakePacer(in: id)].take(
      from: earliest, at: now, gap: gap, longest: longest, capacity: capacity)
    if slot.isHurried { hurried += 1 }
    return slot.at
  }

  /// Adds a slot that was assigned before a restart to the zone's smear. The next free slot of the
  /// smear is then not before `slot`.
  mutating func recovered(_ slot: Instant, of zone: ZoneKey) {
    pacers[zone, default: WakePacer(in: id)].recovered(slot)
  }

  /// The rules changed: the remaining slots of each zone move closer together or apart.
  ///
  /// - Returns: for each zone whose slots move, how they move.
  mutating func stretch(
    from old: WakePacer.Rule, to new: WakePacer.Rule, at now: Instant
  ) -> [ZoneKey: WakePacer.Stretch] {
    var stretches: [ZoneKey: WakePacer.Stretch] = [:]
    for (zone, pacer) in pacers {
      guard let stretch = pacer.stretch(from: old, to: new, at: now) else { continue }
      stretches[zone] = stretch
      pacers[zone]?.apply(stretch)
    }
    return stretches
  }
}

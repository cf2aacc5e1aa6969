import OrderedCollections

/// Messages that their target partitions have not stepped yet.
struct OutboxLoad: Sendable {
  private struct Place: Hashable {
    var source: PartitionID
    var key: OutboxRow.Key
  }

  private struct Item {
    var bytes: Int
    var isFanOut: Bool

    func need(toward target: PartitionID) -> ForwardNeed {
      var need = ForwardNeed()
      (need.messages, need.bytes) = (1, bytes)
      if isFanOut { need.fanOuts[target] = 1 }
      return need
    }
  }

  private(set) var need = ForwardNeed()
  private var items: [Place: Item] = [:]

  mutating func add(_ row: OutboxRow, isFanOut: Bool) {
    let item = Item(bytes: row.message.footprint, isFanOut: isFanOut)
    guard items.updateValue(item, forKey: Place(source: row.source, key: row.key)) == nil else {
      return
    }
    need += item.need(toward: row.key.target)
  }

  mutating func remove(_ key: OutboxRow.Key, from source: PartitionID) {
    guard let item = items.removeValue(forKey: Place(source: source, key: key)) else { return }
    need -= item.need(toward: key.target)
  }
}

/// Why the relay takes no changes now.
package enum NoRoom: Hashable, Sendable {
  /// The bound on changes that go on in slices is reached.
  case fanOuts
  /// Messages to other partitions have reached their bound of count or bytes.
  case forwards
}

extension Relay {
  /// An upper estimate of the messages to other partitions that the changes will need when they are
  /// stepped.
  package func need(of facts: some Sequence<Fact>) -> ForwardNeed {
    var need = ForwardNeed()
    var audiences: Audiences = [:]
    for case .change(let change) in facts { add(change, to: &need, &audiences) }
    return need
  }

  private func add(
    _ change: Change, to need: inout ForwardNeed, _ audiences: inout Audiences
  ) {
    let key = AudienceKey(change)
    let known = audiences[key]
    let audience = known ?? self.audience(of: change)
    if known == nil { audiences[key] = audience }
    guard audience.messages > 0 else { return }
    need.messages += audience.messages
    var choice = FieldChoice(change)
    for (fields, count) in audience.fields {
      need.bytes += count * choice.change(with: fields).footprint
    }
    for target in audience.wide
    where partitions.ask(Int(target.number), { $0.mayFanOut(change) }) {
      need.fanOuts[target, default: 0] += 1
    }
  }

  private func audience(of change: Change) -> Audience {
    let home = Int(change.home.number)
    var audience = Audience()
    for target in partitions.ask(home, { $0.targets(of: change) }) {
      audience.messages += 1
      audience.fields[partitions.ask(home) { $0.fields(of: change, for: target) }, default: 0] += 1
      if partitions.ask(Int(target.number), { $0.isWide(change) }) { audience.wide.append(target) }
    }
    return audience
  }

  /// The partitions whose users a change may concern. Record values are not evaluated.
  private struct Audience {
    var messages = 0
    /// How many of the messages carry each set of values.
    var fields: [Interest.Fields: Int] = [:]
    /// Partitions in which the change may concern more users than one step reaches.
    var wide: [PartitionID] = []
  }

  /// Changes with equal keys have the same audience.
  private struct AudienceKey: Hashable {
    let scope: Scope
    let database: Database
    let zone: ZoneID
    /// The record's type; `nil` means that the change is not about a record.
    let type: String?
    let endsZone: Bool
    let isOfShare: Bool

    init(_ change: Change) {
      (scope, database, zone) = (change.scope, change.database, change.zone)
      endsZone = change.endsZone
      switch change.event {
      case .record(let record): (type, isOfShare) = (record.type, false)
      case .zone: (type, isOfShare) = (nil, false)
      case .granted, .revoked: (type, isOfShare) = (nil, true)
      }
    }

    static func == (left: AudienceKey, right: AudienceKey) -> Bool {
      left.scope == right.scope && left.database == right.database && left.zone == right.zone
        && ByteOrdered.areSame(left.type, right.type) && left.endsZone == right.endsZone
        && left.isOfShare == right.isOfShare
    }
  }

  /// The audiences of one request's changes.
  private typealias Audiences = [AudienceKey: Audience]

  /// The room that changes need, or the reason why there is none.
  package enum Room: Hashable, Sendable {
    case free(ForwardNeed)
    case full(NoRoom)
  }

  /// The room that the changes need. The search ends at the first change that has no room, so that
  /// a refusal costs little.
  ///
  /// - Parameter reserved: the need of accepted facts that are not stepped yet.
  package func room(for facts: some Sequence<Fact>, besides reserved: ForwardNeed) -> Room {
    var taken = outbox.need
    taken += reserved
    for index in partitions.indices { taken.bytes += partitions[index].fanOuts.bytes }
    var need = ForwardNeed()
    var audiences: Audiences = [:]
    for case .change(let change) in facts {
      let before = need.messages
      add(change, to: &need, &audiences)
      if need.messages > before, let why = refusal(of: need, beside: taken) { return .full(why) }
    }
    return .free(need)
  }

  /// Why changes with this need are not taken now; `nil` means that there is room.
  ///
  /// While nothing else is on its way, changes are taken even if their need is above the bound, so
  /// that no request is refused for ever.
  private func refusal(of need: ForwardNeed, beside taken: ForwardNeed) -> NoRoom? {
    if taken.messages > 0, taken.messages + need.messages > limits.forwardedMessages {
      return .forwards
    }
    if taken.bytes > 0, taken.bytes + need.bytes > limits.forwardedBytes { return .forwards }
    for (target, count) in need.fanOuts {
      let running = partitions[Int(target.number)].fanOuts.count + (taken.fanOuts[target] ?? 0)
      if running > 0, running + count > limits.fanOuts { return .fanOuts }
    }
    return nil
  }

  /// How many more changes may go on in slices in the partition.
  func fanOutRoom(in id: PartitionID) -> Int {
    max(0, limits.fanOuts - partitions[Int(id.number)].fanOuts.count)
  }

  /// Whether a message may concern more users of its target than one step reaches.
  func mayFanOut(_ row: OutboxRow) -> Bool {
    guard row.message.isFanOut, case .change(let change, _) = row.message else { return false }
    return partitions.ask(Int(row.key.target.number)) { $0.mayFanOut(change) }
  }
}

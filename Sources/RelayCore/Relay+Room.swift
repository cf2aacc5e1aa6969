import OrderedCollections

/// Messages that their targets do not have in their journals yet.
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
      need.messages = 1
      need.bytes = bytes
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

/// Why changes are not taken now.
package enum NoRoom: Hashable, Sendable {
  /// As many changes as may be are told to many users.
  case fanOuts
  /// Too much is on its way to other users.
  case forwards
}

extension Relay {
  /// What changes that were not stepped yet will need on their way to other users; more rather than
  /// less.
  package func need(of facts: some Sequence<Fact>) -> ForwardNeed {
    var need = ForwardNeed()
    for case .change(let change) in facts {
      let home = Int(change.home.number)
      let targets = partitions[home].targets(of: change)
      guard !targets.isEmpty else { continue }
      let bytes = change.footprint
      for target in targets {
        need.messages += 1
        let fields = partitions[home].fields(of: change, for: target)
        need.bytes += fields.isNone ? min(bytes, Self.namesOnly) : bytes
        if partitions[Int(target.number)].mayFanOut(change) {
          need.fanOuts[target, default: 0] += 1
        }
      }
    }
    return need
  }

  /// A message without values, about.
  private static let namesOnly = 2_048

  /// Why what needs so much is not to be taken now; nil: there is room.
  ///
  /// Larger than the bound alone, it is taken when nothing else is there: a limit never means that
  /// something can never be taken.
  ///
  /// - Parameter reserved: what was taken and is not stepped yet.
  package func refusal(of need: ForwardNeed, besides reserved: ForwardNeed) -> NoRoom? {
    guard need.messages > 0 else { return nil }
    var taken = outbox.need
    taken += reserved
    taken.bytes += fanOutBytes
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

  /// How many more changes a partition may tell to its users in slices.
  package func fanOutRoom(in id: PartitionID) -> Int {
    max(0, limits.fanOuts - partitions[Int(id.number)].fanOuts.count)
  }

  private var fanOutBytes: Int {
    var bytes = 0
    for index in partitions.indices { bytes += partitions[index].fanOutBytes }
    return bytes
  }
}

extension Interest.Fields {
  fileprivate var isNone: Bool { self == .ended || self == .named([]) }
}

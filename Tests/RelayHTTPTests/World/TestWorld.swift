import RelayCore
import RelayEngine
import RelayMemory

/// The core and the state that its cuts fold into, as one value.
struct TestWorld: ~Copyable {
  private var relay: Relay
  private var ordinals = [Ordinal](repeating: .zero, count: PartitionID.count)
  private(set) var stored: MemoryWorld
  private let now = Instant(milliseconds: 1_795_230_000_000)

  init(limits: Limits) {
    relay = Relay(
      PartitionID.all.map { PartitionTables(id: $0) }, limits: limits, policy: WakePolicy())
    _ = relay.recovered()
    stored = MemoryWorld(limits: limits)
    for id in PartitionID.all { _ = stored.claim(id, era: 0xe1) }
  }

  /// Replaces the store's eras, so that each token given so far names an era that the store does
  /// not know.
  mutating func forgetEras() {
    for index in stored.partitions.indices {
      let eras = stored.partitions[index].eras.all
      stored.partitions[index].eras = Eras(eras.map { Era(id: $0.id + 1, first: $0.first) })
    }
  }

  func knows(_ change: Change) -> Bool { relay.knows(change) }

  mutating func take(_ fact: Fact) -> Answer {
    switch fact {
    case .expireTokens, .tick:
      for partition in PartitionID.all { _ = step(fact, in: partition) }
      return .done
    default: return step(fact, in: fact.homes.first ?? PartitionID(0))
    }
  }

  private mutating func step(_ fact: Fact, in partition: PartitionID) -> Answer {
    let ordinal = ordinals[Int(partition.number)].next
    ordinals[Int(partition.number)] = ordinal
    var effects: [Effect] = []
    let fact = fact.accepted(at: now)
    relay.step(fact, in: partition, ordinal: ordinal, at: now, into: &effects)
    var own = Answer.done
    for effect in effects {
      switch effect {
      case .answer(let from, let place, let answer, _) where from == partition && place == ordinal:
        own = answer
      case .journal(let target, let fact): _ = step(fact, in: target)
      default: break
      }
    }
    return own
  }

  /// Folds and delivers messages until no change is left to fold.
  mutating func fold() {
    while relay.isDirty {
      let cut = relay.cut(at: now)
      var effects: [Effect] = []
      let displaced = stored.fold(cut)
      relay.folded(cut, at: now, into: &effects)
      for row in cut.partitions.flatMap(\.outbox) + displaced {
        let message = Forwarded(
          source: row.source, serial: row.key.serial, message: row.message)
        _ = step(.forwarded(message), in: row.key.target)
        relay.delivered(row.key, from: row.source)
      }
    }
  }
}

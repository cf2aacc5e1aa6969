@testable import RelayCore
import RelayEngine
@testable import RelayHTTP
import RelayWire

/// The facts and folds that the files of `StoreSeed` contain.
struct StoreSeedWorld: ~Copyable {
  private var relay: Relay
  private var ordinals = [Ordinal](repeating: .zero, count: PartitionID.count)
  /// All facts that the store's journal holds.
  private(set) var journalled: [JournalEntry] = []
  private static let now = FuzzedParser.now

  init() {
    relay = Relay(
      PartitionID.all.map { PartitionTables(id: $0) }, limits: Limits(), policy: WakePolicy())
    _ = relay.recovered()
    for fact in Self.facts { take(fact, in: fact.homes.first ?? PartitionID(0)) }
  }

  /// Facts that are not folded.
  var late: [JournalEntry] {
    mutating get { Self.changes.map { entry(.change($0), in: $0.home) } }
  }

  private mutating func entry(_ fact: Fact, in partition: PartitionID) -> JournalEntry {
    let index = Int(partition.number)
    ordinals[index] = ordinals[index].next
    return JournalEntry(
      partition: partition, ordinal: ordinals[index], at: Self.now,
      fact: fact.accepted(at: Self.now))
  }

  private mutating func take(_ fact: Fact, in partition: PartitionID) {
    let entry = entry(fact, in: partition)
    journalled.append(entry)
    var effects: [Effect] = []
    relay.step(
      entry.fact, in: partition, ordinal: entry.ordinal, at: Self.now, into: &effects)
    for case .journal(let target, let fact) in effects { take(fact, in: target) }
  }

  mutating func cut() -> Cut { relay.cut(at: Self.now) }

  /// Delivers all messages between partitions except for the last message, so that the store's
  /// files also hold a message that waits.
  mutating func folded(_ cut: Cut, _ displaced: [OutboxRow]) {
    var effects: [Effect] = []
    relay.folded(cut, at: Self.now, into: &effects)
    for row in (cut.partitions.flatMap(\.outbox) + displaced).dropLast() {
      take(
        .forwarded(
          Forwarded(source: row.source, serial: row.key.serial, message: row.message)),
        in: row.key.target)
      relay.delivered(row.key, from: row.source)
    }
  }

  /// The changes of the event seeds: some leave a gap in the numbers, some are public.
  private static var changes: [Change] {
    let reader = EventReader(
      scope: FuzzedParser.scope, producer: "records-1", ids: FuzzKeys(), limits: HTTPLimits())
    var changes: [Change] = []
    for text in FuzzedParser.eventSeeds {
      // Every seed is valid JSON, and so no seed is skipped here.
      guard let root = try? JSONTree(Array(text.utf8)).root else { continue }
      changes += ((try? root.elements()) ?? [root]).compactMap { try? reader.change($0) }
    }
    let gap = changes.compactMap { change -> Change? in
      guard let sequence = change.sequence else { return nil }
      var later = change
      later.sequence = sequence + 5
      later.notification = Identifier(high: 5, low: 5)
      later.fingerprint &+= 1
      return later
    }
    let shown = changes.map { change in
      var shown = change
      shown.database = .public
      shown.zone = .publicDefault
      shown.sequence = nil
      shown.fingerprint &+= 2
      return shown
    }
    return changes + gap + shown
  }

  private static var facts: [Fact] {
    let users = ["_a", "_b", "_c"].map { UserID($0) }
    var facts: [Fact] = []
    for (index, user) in users.enumerated() {
      let client = ClientID(Identifier(high: 1, low: UInt64(index + 2)))
      let address = Address(
        transport: .apns, topic: "com.example.notes", token: [1, UInt8(index)],
        environment: .development)
      facts.append(
        .register(
          Registration(
            scope: FuzzedParser.scope, user: user, client: client, address: address)))
      for database in [Database.private, .public] {
        let query = QueryRule(recordType: "T", firesOn: .all)
        var info = NotificationInfo()
        info.alert.body = "b"
        info.badges = true
        facts.append(
          .modify(
            SubscriptionsRequest(
              scope: FuzzedParser.scope, user: user, database: database,
              operations: [
                .save(
                  Subscription(
                    id: SubscriptionID("q"), database: database, rule: .query(query), info: info))
              ])))
      }
      facts.append(
        .setBadge(
          BadgeRequest(
            scope: FuzzedParser.scope, user: user, topic: "com.example.notes", badge: 3)))
    }
    return facts + changes.map { .change($0) }
  }
}

import RelayCore

/// One partition with many public query subscriptions to one record type. Each subscription belongs
/// to a different user and has an equality filter; four subscriptions ask for the same value.
struct MatchScene {
  static let scope = Scope.measured
  static let askingEach = 4
  /// The number of changes between two folds, about as many as on a busy daemon.
  private static let fold: UInt64 = 500

  let subscriptions: Int
  private(set) var partition: Partition
  private var ordinal: UInt64
  private var draw: SplitMix64

  init(subscriptions: Int, seed: UInt64) {
    self.subscriptions = subscriptions
    ordinal = UInt64(subscriptions) + 1
    draw = SplitMix64(seed: seed)
    let home = PartitionID.home(of: ZoneID.publicDefault.owner, in: Self.scope)
    var tables = PartitionTables(id: home, cursor: Ordinal(ordinal))
    tables.subscriptions = (0..<subscriptions).map { number in
      SubscriptionRow(
        scope: Self.scope, user: UserID("_user\(number)"),
        serial: Position(Ordinal(UInt64(number + 1))),
        subscription: Self.subscription(asking: Self.author(number / Self.askingEach)))
    }
    partition = Partition(tables, limits: Limits(), policy: WakePolicy())
  }

  /// - Parameter author: the author that the filter asks for; nil means that the subscription
  ///   matches every record of the type.
  static func subscription(asking author: String?) -> Subscription {
    let filters = author.map {
      [QueryRule.Filter(field: "author", comparator: .equals, value: .string($0))]
    }
    return Subscription(
      silent: "by-author", .public,
      .query(QueryRule(recordType: "Article", filters: filters ?? [])))
  }

  static func author(_ number: Int) -> String { "author-\(number)" }

  static func change(_ number: UInt64, by author: String) -> Change {
    let record = RecordChange(
      verb: .updated, name: "A\(number % 1_000)", type: "Article", tag: "7",
      fields: [
        Field(name: "title", value: .string("On pushes")),
        Field(name: "author", value: .string(author)), Field(name: "year", value: .int64(2_026)),
      ])
    return Change(
      scope: scope, database: .public, zone: .publicDefault, event: .record(record),
      time: Instant(milliseconds: 0), notification: Identifier(high: 1, low: number),
      fingerprint: number)
  }

  /// Changes by random authors, each of whom some subscriptions name.
  mutating func changes(_ count: Int) -> [Change] {
    (0..<count).map { _ in
      let number = draw.next()
      let authors = UInt64(subscriptions / Self.askingEach)
      return Self.change(number, by: Self.author(Int(number % authors)))
    }
  }

  /// Steps changes and makes the cut of each fold. Returns the number of notifications in the cuts.
  mutating func step(_ changes: [Change]) -> Int {
    var fired = 0
    var effects: [Effect] = []
    for change in changes {
      ordinal += 1
      let told = Forwarded(
        source: partition.id, serial: Position(Ordinal(ordinal)),
        message: .change(change, at: Position(Ordinal(ordinal))))
      partition.step(
        .forwarded(told), ordinal: Ordinal(ordinal), at: Instant(milliseconds: 0), into: &effects)
      if ordinal % Self.fold == 0 { fired += fold(&effects) }
    }
    return fired + fold(&effects)
  }

  private mutating func fold(_ effects: inout [Effect]) -> Int {
    effects.removeAll(keepingCapacity: true)
    let cut = partition.cut()
    _ = partition.folded(at: Instant(milliseconds: 0))
    return cut.feeds.reduce(0) { $0 + $1.deltas.count }
  }
}

import RelayCore

/// Sample values for the tests.
enum Sample {
  static let scope = Scope(container: "iCloud.com.example.notes", environment: .development)
  static let owner = UserID("_abc")
  static let zone = ZoneID(name: "ReadingList", owner: owner)
  static let topic = "com.example.notes"
  static let start = Instant(milliseconds: 1_700_000_000_000)

  static func client(_ number: UInt64) -> ClientID {
    ClientID(Identifier(high: 0x4000, low: 0x8000_0000_0000_0000 | number))
  }

  static func address(_ number: UInt8) -> Address {
    Address(transport: .apns, topic: topic, token: [number, number])
  }

  static func position(_ ordinal: UInt64, _ index: Int = 0) -> Position {
    Position(Ordinal(ordinal), index: index)
  }

  static func nid(_ number: UInt64) -> Identifier { Identifier(high: 1, low: number) }

  static func content(
    _ subscription: String = "s", _ zone: ZoneID = zone, _ database: Database = .private,
    _ kind: NotificationContent.Kind = .zone
  ) -> NotificationContent {
    NotificationContent(
      subscription: SubscriptionID(subscription), notification: nid(1), database: database,
      zone: zone, kind: kind)
  }
}

extension Instant {
  /// The moment `seconds` after `Sample.start`.
  static func s(_ seconds: Double) -> Instant {
    Sample.start + Span(milliseconds: Int64(seconds * 1_000))
  }
}

extension Partition {
  /// Steps a fact and returns its effects.
  mutating func take(_ fact: Fact, _ ordinal: UInt64, at: Instant = Sample.start) -> [Effect] {
    var effects: [Effect] = []
    step(fact, ordinal: Ordinal(ordinal), at: at, into: &effects)
    return effects
  }
}

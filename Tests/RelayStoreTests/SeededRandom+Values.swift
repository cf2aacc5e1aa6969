import RelayCore

extension SeededRandom {
  mutating func scope() -> Scope {
    Scope(container: "iCloud." + text(), environment: pick([.production, .development]))
  }

  mutating func user() -> UserID { UserID(text()) }
  mutating func zone() -> ZoneID { ZoneID(name: text(), owner: user()) }
  mutating func client() -> ClientID { ClientID(identifier()) }
  mutating func database() -> Database { pick(Database.allCases) }
  mutating func partition() -> PartitionID { pick(PartitionID.all) }

  mutating func address() -> Address {
    Address(
      transport: pick(Transport.allCases), topic: text(), token: bytes(),
      environment: maybe { $0.pick(Environment.allCases) })
  }

  mutating func value(depth: Int = 0) -> FieldValue {
    switch number(0..<(depth < 3 ? 9 : 8)) {
    case 0: .string(text())
    case 1: .int64(Int64(bitPattern: next() >> UInt64(number(0..<64))))
    case 2: .double(Double(number(0..<1_000_000)) / 7 - 1_000)
    case 3: .bytes(bytes())
    case 4: .timestamp(instant())
    case 5: .reference(recordName: text(), zone: maybe { $0.zone() })
    case 6: .location(latitude: 48.1, longitude: -11.5)
    case 7: .asset(text())
    default: .list(list(3) { $0.value(depth: depth + 1) })
    }
  }

  mutating func field() -> Field { Field(name: text(), value: value()) }

  mutating func event() -> Change.Event {
    switch number(0..<4) {
    case 0:
      .record(
        RecordChange(
          verb: pick([.created, .updated, .deleted]), name: text(), type: text(),
          tag: maybe { $0.text() }, fields: list(4) { $0.field() }))
    case 1: .zone(pick([.created, .deleted, .purged, .reset]))
    case 2: .granted(user())
    default: .revoked(user())
    }
  }

  mutating func change() -> Change {
    let sequence = maybe { Int64(bitPattern: $0.next()) }
    return Change(
      scope: scope(), database: database(), zone: zone(), event: event(),
      author: maybe { Change.Author(user: $0.user(), client: $0.maybe { $0.client() }) },
      sequence: sequence, origin: sequence == nil ? 0 : next(),
      fetchCapacity: pick([0, 1, 500, Change.fetchCapacityMax]), time: instant(),
      notification: identifier(), fingerprint: next())
  }

  mutating func subscription() -> Subscription {
    Subscription(
      id: SubscriptionID(text()), database: database(), rule: rule(), info: info(),
      isUrgent: flag())
  }

  private mutating func rule() -> Subscription.Rule {
    switch number(0..<3) {
    case 0:
      .query(
        QueryRule(
          recordType: text(),
          filters: list(3) {
            QueryRule.Filter(
              field: $0.flag() ? $0.text() : $0.pick(SystemField.allCases).rawValue,
              comparator: $0.pick(QueryRule.Comparator.allCases), value: $0.value(),
              distance: $0.maybe { Double($0.number(1..<1_000_000)) / 3 })
          }, firesOn: QueryRule.Firing(rawValue: UInt8(number(0..<8))), firesOnce: flag(),
          zone: maybe { $0.zone() }))
    case 1: .zone(zone(), recordType: maybe { $0.text() })
    default: .database(recordType: maybe { $0.text() })
    }
  }

  private mutating func info() -> NotificationInfo {
    var info = NotificationInfo()
    info.alert.body = maybe { $0.text() }
    info.alert.bodyKey = maybe { $0.text() }
    info.alert.bodyArguments = list(3) { $0.text() }
    info.alert.title = maybe { $0.text() }
    info.alert.titleArguments = list(2) { $0.text() }
    info.alert.subtitleKey = maybe { $0.text() }
    info.alert.subtitleArguments = list(2) { $0.text() }
    info.alert.actionKey = maybe { $0.text() }
    info.alert.launchImage = maybe { $0.text() }
    info.sound = maybe { $0.text() }
    info.badges = flag()
    info.category = maybe { $0.text() }
    info.isContentAvailable = flag()
    info.isMutable = flag()
    info.desiredKeys = list(3) { $0.text() }
    info.collapseKey = maybe { $0.text() }
    return info
  }
}

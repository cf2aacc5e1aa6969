import RelayCore

extension StoreKey {
  /// An entry's key among the entries of its feed. Zones are ordered as `ZoneID` orders them.
  init(_ subject: Subject) {
    self.init()
    switch subject {
    case .record(let name):
      byte(1)
      rest(name.utf8)
    case .zone(let zone):
      self = StoreKey(zone)
    case .notification(let subscription, let zone, let record):
      byte(record == nil ? 3 : 4)
      text(subscription.name)
      text(zone.owner.name)
      if let record {
        text(zone.name)
        rest(record.utf8)
      } else {
        rest(zone.name.utf8)
      }
    }
  }

  init(_ zone: ZoneID) {
    self.init()
    byte(2)
    text(zone.owner.name)
    rest(zone.name.utf8)
  }
}

extension Subject {
  init(_ key: some Sequence<UInt8>) throws {
    var reader = StoreKeyReader(key)
    switch try reader.byte() {
    case 1: self = .record(try reader.rest())
    case 2:
      let owner = UserID(try reader.text())
      self = .zone(ZoneID(name: try reader.rest(), owner: owner))
    case let kind where kind == 3 || kind == 4:
      let subscription = SubscriptionID(try reader.text())
      let owner = UserID(try reader.text())
      let zone = ZoneID(name: kind == 3 ? try reader.rest() : try reader.text(), owner: owner)
      let record = kind == 3 ? nil : try reader.rest()
      self = .notification(subscription, zone: zone, record: record)
    default: throw StoreKeyReader.Malformed()
    }
  }
}

import Foundation

/// A record server that makes random changes, and knows what every copy must be in the end.
struct RandomRecords {
  /// Zone name and owner.
  struct Zone: Hashable, Codable {
    var zoneName: String
    var ownerRecordName: String
  }

  private let owners: [String]
  /// For every zone that exists, the change tag of each record, by the record's name.
  private(set) var zones: [Zone: [String: String]] = [:]
  private var guests: [Zone: Set<String>] = [:]
  private(set) var count = 0

  init(owners: [String]) { self.owners = owners }

  /// What a user's copy must be.
  func visible(to user: String) -> [Zone: [String: String]] {
    zones.filter { zone, _ in
      zone.ownerRecordName == user || guests[zone]?.contains(user) == true
    }
  }

  /// The next changes as events; their ids stay the same when they are sent again.
  mutating func next(atMost most: Int) -> [[String: Any]] {
    (0..<Int.random(in: 1...most)).map { _ in event() }
  }

  private mutating func event() -> [String: Any] {
    count += 1
    let owner = owners[Int.random(in: 0..<owners.count)]
    let zone = Zone(zoneName: "Zone \(Int.random(in: 1...4))", ownerRecordName: owner)
    switch Int.random(in: 0..<60) {
    case 0: return end(zone)
    case 1, 2: return share(zone, isGranted: true)
    case 3: return share(zone, isGranted: false)
    default: return change("R\(Int.random(in: 1...40))", in: zone)
    }
  }

  private mutating func end(_ zone: Zone) -> [String: Any] {
    (zones[zone], guests[zone]) = (nil, nil)
    let kind = ["deleted", "purged", "reset"][Int.random(in: 0..<3)]
    return event("zone.\(kind)", zone)
  }

  private mutating func share(_ zone: Zone, isGranted: Bool) -> [String: Any] {
    let guest = owners.first { $0 != zone.ownerRecordName } ?? ""
    if isGranted {
      zones[zone] = zones[zone] ?? [:]
      guests[zone, default: []].insert(guest)
    } else {
      guests[zone]?.remove(guest)
    }
    return event(
      isGranted ? "share.granted" : "share.revoked", zone,
      ["participant": guest])
  }

  private mutating func change(_ name: String, in zone: Zone) -> [String: Any] {
    let isKnown = zones[zone]?[name] != nil
    let isDeleted = isKnown && Int.random(in: 0..<5) == 0
    zones[zone, default: [:]][name] = isDeleted ? nil : "\(count)"
    let verb = isDeleted ? "deleted" : isKnown ? "updated" : "created"
    return event(
      "record.\(verb)", zone,
      [
        "record": [
          "recordName": name, "recordType": "Article", "recordChangeTag": "\(count)",
        ]
      ])
  }

  private func event(
    _ type: String, _ zone: Zone, _ more: [String: Any] = [:]
  ) -> [String: Any] {
    var data: [String: Any] = [
      "database": "private",
      "zoneID": ["zoneName": zone.zoneName, "ownerRecordName": zone.ownerRecordName],
    ]
    data.merge(more) { _, new in new }
    return [
      "specversion": "1.0", "id": "random-\(count)", "source": "/records/random",
      "type": "zonerelay.\(type)", "data": data,
    ]
  }
}

internal import Foundation

/// `changes/zone`: which records changed, zone by zone in the order asked.
struct ZonesAnswer: Decodable {
  private var zones: [Zone]

  struct Zone: Decodable {
    var zoneID: ZoneID?
    var records: [Record]?
    var syncToken: String?
    var moreComing: Bool?
    var gap: Bool?
    var serverErrorCode: String?
    var reason: String?
    var retryAfter: Double?

    func error(of zone: ZoneID) -> RelayError? {
      ErrorAnswer(serverErrorCode: serverErrorCode, reason: reason, retryAfter: retryAfter)
        .error(of: "zone \(zone.name)")
    }
  }

  struct Record: Decodable {
    var recordName: String
    var recordType: String?
    var recordChangeTag: String?
    var deleted: Bool?
    var modified: Modified?
    var own: Bool?

    struct Modified: Decodable { var timestamp: Double? }
  }

  /// The items, each in the place of its zone; nil if the answer is not about the zones asked for.
  func items(for asked: [ZoneID]) -> [Zone]? {
    let isInOrder = zip(asked, zones).allSatisfy { $1.zoneID == nil || $0 == $1.zoneID }
    return zones.count == asked.count && isInOrder ? zones : nil
  }
}

struct ZonesQuestion: Encodable {
  var zones: [Zone]

  struct Zone: Encodable {
    var zoneID: ZoneID
    var syncToken: String?
  }
}

extension ZonePage {
  init(_ item: ZonesAnswer.Zone, of zone: ZoneID, startsOver: Bool) {
    let records = item.records ?? []
    self.init(
      zone: zone, deleted: records.filter { $0.deleted == true }.map(Record.init),
      changed: records.filter { $0.deleted != true }.map(Record.init), gap: item.gap ?? false,
      startsOver: startsOver, isLast: item.moreComing != true)
  }

  var isEmpty: Bool { deleted.isEmpty && changed.isEmpty }
}

extension ZonePage.Record {
  init(_ record: ZonesAnswer.Record) {
    self.init(
      name: record.recordName, type: record.recordType, changeTag: record.recordChangeTag,
      modified: record.modified?.timestamp.map { Date(timeIntervalSince1970: $0 / 1_000) },
      own: record.own ?? false)
  }
}

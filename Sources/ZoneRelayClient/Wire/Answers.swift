internal import Foundation

/// `changes/database`: which zones changed. The answer to an expired token has the same members.
struct DatabaseQuestion: Encodable {
  var syncToken: String?
  var digestToken: String?
}

struct DatabaseAnswer: Decodable {
  var zones: [Zone]?
  var syncToken: String
  var moreComing: Bool?
  var digestToken: String?

  struct Zone: Decodable {
    var zoneID: ZoneID
    var syncToken: String?
    var deleted: Bool?
    var purged: Bool?
    var reset: Bool?

    /// Why the zone is gone; nil if it exists.
    var loss: ZoneLoss? {
      guard deleted == true else { return nil }
      if purged == true { return .purged }
      return reset == true ? .reset : .deleted
    }
  }
}

/// `changes/zone`: which records changed, for several zones.
struct ZonesQuestion: Encodable {
  var zones: [Zone]

  struct Zone: Encodable {
    var zoneID: ZoneID
    var syncToken: String?
  }
}

struct ZonesAnswer: Decodable {
  var zones: [Zone]

  struct Zone: Decodable {
    var zoneID: ZoneID?
    var records: [Record]?
    var syncToken: String?
    var moreComing: Bool?
    var gap: Bool?
    var serverErrorCode: String?
    var reason: String?
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
}

extension ZonePage.Record {
  init(_ record: ZonesAnswer.Record) {
    self.init(
      name: record.recordName, type: record.recordType, changeTag: record.recordChangeTag,
      modified: record.modified?.timestamp.map { Date(timeIntervalSince1970: $0 / 1_000) },
      own: record.own ?? false)
  }
}

/// `notifications/changes`. The answer to an expired token has `syncToken` alone.
struct NotificationsQuestion: Encodable { var syncToken: String? }

struct NotificationsAnswer: Decodable {
  var notifications: [NotificationPage.Notification]?
  var syncToken: String
  var moreComing: Bool?
}

/// The members of every error.
struct ErrorAnswer: Decodable {
  var serverErrorCode: String?
  var reason: String?
  var retryAfter: Double?

  static let tokenExpired = "CHANGE_TOKEN_EXPIRED"
  static let zoneNotFound = "ZONE_NOT_FOUND"
}

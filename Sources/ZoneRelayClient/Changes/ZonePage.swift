public import Foundation

/// A page of a zone's changes: names and tags, no fields. The app asks its own record server for
/// the fields of the records that ``toFetch(knownTag:)`` gives.
public struct ZonePage: Hashable, Sendable {
  /// A record that was changed or deleted.
  public struct Record: Hashable, Sendable {
    public let name: String
    /// nil if the relay does not know the type of a deleted record.
    public let type: String?
    /// The record server's change tag. The client compares it and does not interpret it.
    public let changeTag: String?
    /// When the record was changed; nil for deletions.
    public let modified: Date?
    /// Whether this installation made the change.
    public let own: Bool
  }

  public let zone: ZoneID
  /// Records that no longer exist. Remove them before the changed records are added.
  public let deleted: [Record]
  public let changed: [Record]
  /// Whether the relay misses changes of this zone. The app should compare its copy with the record
  /// server.
  public let gap: Bool
  /// Whether this page begins the zone anew. This page and the following ones, up to the page with
  /// `isLast`, name all records of the zone: the app must then remove the records that no page
  /// named. If another page with `startsOver` comes before the page with `isLast`, the app must
  /// forget which records were named so far.
  public let startsOver: Bool
  /// Whether no further page follows at present.
  public let isLast: Bool

  /// The changed records whose tag differs from the tag that the app holds.
  ///
  /// - Parameter knownTag: takes a record's name and gives the tag that the app holds of this
  ///   record; nil if the app does not hold the record.
  public func toFetch(knownTag: (String) -> String?) -> [Record] {
    changed.filter { record in
      guard let tag = record.changeTag, let known = knownTag(record.name) else { return true }
      return !known.hasSameBytes(as: tag)
    }
  }
}

/// Why a user does not have a zone any more.
public enum ZoneLoss: Hashable, Sendable {
  case deleted
  /// The owner's data was purged. The app should not upload its copy again.
  case purged
  /// The owner's encrypted data was reset. The app may upload its copy again.
  case reset
  /// The user may not see the zone, or the relay does not know it. Keep edits that were not
  /// uploaded.
  case unseen
}

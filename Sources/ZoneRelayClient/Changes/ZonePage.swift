public import Foundation

/// A page of a zone's changes: names and tags, no fields. The app asks its own record server for
/// the fields of the records that ``toFetch(knownTag:)`` gives.
public struct ZonePage: Hashable, Sendable {
  /// A record that was changed or deleted.
  public struct Record: Hashable, Sendable {
    public let name: String
    /// nil if the relay does not know the type of a deleted record.
    public let type: String?
    /// The record server's change tag, which the client compares and never interprets.
    public let changeTag: String?
    /// When the record was changed; nil for deletions.
    public let modified: Date?
    /// True if this installation made the change.
    public let own: Bool
  }

  public let zone: ZoneID
  /// Records that no longer exist. Remove them before the changed records are added.
  public let deleted: [Record]
  public let changed: [Record]
  /// True if changes of this zone are missing at the relay. The app should compare the zone with
  /// its record server.
  public let gap: Bool
  /// True if this page begins the zone anew. Whatever the app holds of this zone and no page names
  /// up to the page with `isLast` no longer exists.
  public let startsOver: Bool
  /// True if no further page follows at present.
  public let isLast: Bool

  /// The changed records whose tag differs from the tag that the app holds.
  ///
  /// - Parameter knownTag: the tag that the app holds of a record; nil if it does not hold it.
  public func toFetch(knownTag: (String) -> String?) -> [Record] {
    changed.filter { $0.changeTag == nil || knownTag($0.name) != $0.changeTag }
  }
}

/// Why a zone is gone from the user's view.
public enum ZoneLoss: Hashable, Sendable {
  case deleted
  /// The owner's data was removed for privacy. The app should not upload its copy again.
  case purged
  /// The owner's encrypted data was reset. The app may upload its copy again.
  case reset
  /// The user may not see the zone, or the relay does not know it. Keep edits that were not
  /// uploaded.
  case unseen
}

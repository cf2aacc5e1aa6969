/// What a user's devices are woken for.
///
/// Only query subscriptions can name `additionalFields` and a collapse key, so only
/// ``query(_:in:_:notification:additionalFields:collapseIDKey:isUrgent:)`` takes them.
public struct Subscription: Hashable, Sendable {
  /// The databases as the user sees them.
  public enum Database: String, Hashable, Sendable, CaseIterable {
    case `public`
    case `private`
    case shared
  }

  /// The subscription's id, which the app chooses: at most 255 bytes.
  public let id: String
  public let database: Database
  let rule: Rule
  let notification: NotificationInfo
  let isUrgent: Bool

  enum Rule: Hashable, Sendable {
    case query(RecordQuery)
    case zone(ZoneID, recordType: String?)
    case database(recordType: String?)
  }

  /// Fires for every change in one of the user's own zones.
  ///
  /// - Parameters:
  ///   - recordType: the type of records whose changes wake the devices; nil means every type.
  ///   - isUrgent: whether wakes may spend the part of the budget that the operator reserved.
  public static func zone(
    _ id: String, _ zone: ZoneID, recordType: String? = nil,
    notification: NotificationInfo = .silent, isUrgent: Bool = false
  ) -> Subscription {
    Subscription(
      id: id, database: .private, rule: .zone(zone, recordType: recordType),
      notification: notification, isUrgent: isUrgent)
  }

  /// Fires for every change in any zone of a database except the default zone.
  ///
  /// - Parameters: as for ``zone(_:_:recordType:notification:isUrgent:)``.
  public static func database(
    _ id: String, _ database: UserDatabase, recordType: String? = nil,
    notification: NotificationInfo = .silent, isUrgent: Bool = false
  ) -> Subscription {
    Subscription(
      id: id, database: database == .private ? .private : .shared,
      rule: .database(recordType: recordType), notification: notification, isUrgent: isUrgent)
  }

  /// Fires for changes of records that pass a query.
  ///
  /// - Parameters:
  ///   - database: `.public` or `.private`; the relay refuses `.shared`.
  ///   - additionalFields: at most three fields, whose values stand in the push.
  ///   - collapseIDKey: a visible notification replaces the shown one with the same key.
  ///   - isUrgent: whether wakes may spend the part of the budget that the operator reserved.
  public static func query(
    _ id: String, in database: Database, _ query: RecordQuery,
    notification: NotificationInfo = .silent, additionalFields: [String] = [],
    collapseIDKey: String? = nil, isUrgent: Bool = false
  ) -> Subscription {
    var info = notification
    info.additionalFields = additionalFields.isEmpty ? nil : additionalFields
    info.collapseIDKey = collapseIDKey
    return Subscription(
      id: id, database: database, rule: .query(query), notification: info, isUrgent: isUrgent)
  }
}

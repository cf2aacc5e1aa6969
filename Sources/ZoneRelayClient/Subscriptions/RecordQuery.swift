/// Which changes of records a query subscription fires for.
public struct RecordQuery: Hashable, Sendable {
  /// The kinds of change.
  public enum Event: String, Hashable, Sendable, CaseIterable, Encodable {
    case create
    case update
    case delete
  }

  /// One condition on a field of the record.
  public struct Filter: Hashable, Sendable {
    /// The part of a record that a condition tests.
    public enum Subject: Hashable, Sendable {
      case field(String)
      /// A field that each record has, by its name in Web Services, such as `modifiedTimestamp`.
      case systemField(String)
      /// All texts of the record together, for comparators that search for words (tokens).
      case wholeRecord
    }

    public var subject: Subject
    public var comparator: Comparator
    public var value: FieldValue
    /// In metres, for `.near`.
    public var distance: Double?

    public init(
      _ subject: Subject, _ comparator: Comparator, _ value: FieldValue, distance: Double? = nil
    ) {
      self.subject = subject
      self.comparator = comparator
      self.value = value
      self.distance = distance
    }
  }

  /// CloudKit's comparators, by their names in Web Services.
  public enum Comparator: String, Hashable, Sendable, CaseIterable, Encodable {
    case equals = "EQUALS"
    case notEquals = "NOT_EQUALS"
    case lessThan = "LESS_THAN"
    case lessThanOrEquals = "LESS_THAN_OR_EQUALS"
    case greaterThan = "GREATER_THAN"
    case greaterThanOrEquals = "GREATER_THAN_OR_EQUALS"
    case near = "NEAR"
    case containsAllTokens = "CONTAINS_ALL_TOKENS"
    case containsAnyTokens = "CONTAINS_ANY_TOKENS"
    case `in` = "IN"
    case notIn = "NOT_IN"
    case beginsWith = "BEGINS_WITH"
    case notBeginsWith = "NOT_BEGINS_WITH"
    case listContains = "LIST_CONTAINS"
    case notListContains = "NOT_LIST_CONTAINS"
    case listContainsAll = "LIST_CONTAINS_ALL"
    case notListContainsAll = "NOT_LIST_CONTAINS_ALL"
    case listContainsAny = "LIST_CONTAINS_ANY"
    case notListContainsAny = "NOT_LIST_CONTAINS_ANY"
    case listMemberBeginsWith = "LIST_MEMBER_BEGINS_WITH"
    case notListMemberBeginsWith = "NOT_LIST_MEMBER_BEGINS_WITH"
  }

  public var recordType: String
  /// A change fires the subscription only if all these filters hold.
  public var filters: [Filter]
  public var firesOn: Set<Event>
  /// Whether the relay removes the subscription with its first notification.
  public var firesOnce: Bool
  /// The only zone whose changes fire the subscription; nil means every zone of the database.
  public var zone: ZoneID?

  public init(
    recordType: String, filters: [Filter] = [], firesOn: Set<Event> = Set(Event.allCases),
    firesOnce: Bool = false, zone: ZoneID? = nil
  ) {
    self.recordType = recordType
    self.filters = filters
    self.firesOn = firesOn
    self.firesOnce = firesOnce
    self.zone = zone
  }
}

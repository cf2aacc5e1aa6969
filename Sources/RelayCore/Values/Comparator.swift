extension QueryRule {
  /// The comparators of CloudKit Web Services. Stores keep the raw values, so these must never
  /// change.
  package enum Comparator: UInt8, Hashable, Sendable, Named {
    case equals = 1
    case notEquals = 2
    case lessThan = 3
    case lessThanOrEquals = 4
    case greaterThan = 5
    case greaterThanOrEquals = 6
    /// The record's location is at most `distance` metres away from the filter's location.
    case near = 7
    /// Every word of the filter's value is a word of the searched text.
    case containsAllTokens = 8
    case containsAnyTokens = 9
    case `in` = 10
    case notIn = 11
    case beginsWith = 12
    case notBeginsWith = 13
    case listContains = 14
    case notListContains = 15
    case listContainsAll = 16
    case notListContainsAll = 17
    case listContainsAny = 18
    case notListContainsAny = 19
    /// Some member of the record's list begins with the filter's value.
    case listMemberBeginsWith = 20
    case notListMemberBeginsWith = 21
  }
}

extension QueryRule.Comparator {
  package var name: String { Self.names[Int(rawValue) - 1] }

  /// The names in the order of the raw values.
  private static let names = [
    "EQUALS", "NOT_EQUALS", "LESS_THAN", "LESS_THAN_OR_EQUALS", "GREATER_THAN",
    "GREATER_THAN_OR_EQUALS", "NEAR", "CONTAINS_ALL_TOKENS", "CONTAINS_ANY_TOKENS", "IN", "NOT_IN",
    "BEGINS_WITH", "NOT_BEGINS_WITH", "LIST_CONTAINS", "NOT_LIST_CONTAINS", "LIST_CONTAINS_ALL",
    "NOT_LIST_CONTAINS_ALL", "LIST_CONTAINS_ANY", "NOT_LIST_CONTAINS_ANY",
    "LIST_MEMBER_BEGINS_WITH", "NOT_LIST_MEMBER_BEGINS_WITH",
  ]

  /// Whether the comparator is the negation of another one.
  var isNegative: Bool {
    switch self {
    case .notEquals, .notIn, .notBeginsWith, .notListContains, .notListContainsAll,
      .notListContainsAny, .notListMemberBeginsWith:
      true
    default: false
    }
  }

  /// The kind of value that the comparator needs in a filter.
  package enum Operand: Hashable, Sendable {
    /// A value of any type, or a list.
    case anything
    /// One value of a type that has an order.
    case ordered
    case string
    /// A location; the filter has a distance.
    case location
    /// Words: a string or a list of strings.
    case text
    /// One value that is not a list.
    case member
    /// A list of values of one type.
    case list
  }

  package var operand: Operand {
    switch self {
    case .equals, .notEquals: .anything
    case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals: .ordered
    case .near: .location
    case .containsAllTokens, .containsAnyTokens: .text
    case .beginsWith, .notBeginsWith, .listMemberBeginsWith, .notListMemberBeginsWith: .string
    case .listContains, .notListContains: .member
    case .in, .notIn, .listContainsAll, .notListContainsAll, .listContainsAny,
      .notListContainsAny:
      .list
    }
  }
}

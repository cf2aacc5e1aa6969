/// Public query subscriptions to one record type, each in exactly one list: by the value of its
/// first equality filter if it has one, else among the rest. Lists are in order of serial.
struct Postings: Sendable {
  typealias Held = SubscriptionIndex.Held

  private var byField: [String: [FieldValue: [Held]]] = [:]
  private var rest: [Held] = []

  var isEmpty: Bool { rest.isEmpty && byField.isEmpty }

  mutating func insert(_ held: Held, _ rule: QueryRule) {
    guard let filter = Self.discriminator(rule) else {
      Self.insert(held, into: &rest)
      return
    }
    Self.insert(held, into: &byField[filter.field, default: [:]][filter.value, default: []])
  }

  mutating func remove(_ held: Held, _ rule: QueryRule) {
    guard let filter = Self.discriminator(rule) else {
      Self.remove(held, from: &rest)
      return
    }
    guard var list = byField[filter.field]?[filter.value] else { return }
    Self.remove(held, from: &list)
    byField[filter.field]?[filter.value] = list.isEmpty ? nil : list
    if byField[filter.field]?.isEmpty == true { byField[filter.field] = nil }
  }

  /// The lists that may hold subscriptions for a record with these fields. Their order does not
  /// matter: hits are sorted by serial.
  func forEachList(_ fields: [Field], _ body: ([Held]) -> Void) {
    body(rest)
    for field in fields {
      if let list = byField[field.name]?[field.value] { body(list) }
    }
  }

  /// The first place after `cursor`.
  static func start(in list: [Held], after cursor: Position) -> Int {
    var low = list.startIndex
    var high = list.endIndex
    while low < high {
      let middle = (low + high) / 2
      if list[middle].serial <= cursor { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func discriminator(_ rule: QueryRule) -> QueryRule.Filter? {
    rule.filters.first { $0.comparator == .equals }
  }

  private static func insert(_ held: Held, into list: inout [Held]) {
    list.insert(held, at: start(in: list, after: held.serial))
  }

  private static func remove(_ held: Held, from list: inout [Held]) {
    list.removeAll { $0.serial == held.serial }
  }
}

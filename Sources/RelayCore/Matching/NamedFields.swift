/// The fields of records that subscriptions name: in filters, for their notifications' values and
/// arguments, and to collapse by. Kept as they come and go, so that asking costs nothing: whoever
/// sends a change to a partition sends it these fields and no others.
package struct NamedFields: Hashable, Sendable {
  /// How many times each is named.
  private var counts: [Name: Int] = [:]
  private var searches = 0

  /// Swift takes two spellings of a name for one.
  private struct Name: Hashable {
    let text: String

    static func == (left: Name, right: Name) -> Bool { Spelling.areSame(left.text, right.text) }
  }

  package init() {}

  package var isEmpty: Bool { counts.isEmpty && searches == 0 }

  /// Some token search looks at all texts of a record.
  package var searchesWholeRecord: Bool { searches > 0 }

  /// How many there are.
  package var count: Int { counts.count }

  /// In order. A record's system fields are among them, under their native names.
  package var names: [String] { counts.keys.map(\.text).sorted(by: Spelling.precedes) }

  package func contains(_ field: String) -> Bool { counts[Name(text: field)] != nil }

  mutating func add(_ subscription: Subscription) {
    subscription.eachNamedField { field in
      if let field { counts[Name(text: field), default: 0] += 1 } else { searches += 1 }
    }
  }

  /// - Precondition: it was added.
  mutating func remove(_ subscription: Subscription) {
    subscription.eachNamedField { field in
      guard let field else { return searches -= 1 }
      let name = Name(text: field)
      let left = (counts[name] ?? 1) - 1
      counts[name] = left > 0 ? left : nil
    }
  }
}

extension Subscription {
  /// - Parameter body: nil: all texts of the record.
  fileprivate func eachNamedField(_ body: (String?) -> Void) {
    if case .query(let rule) = rule {
      for filter in rule.filters {
        body(filter.field == QueryRule.Filter.wholeRecord ? nil : filter.field)
      }
    }
    for name in info.desiredKeys { body(name) }
    for name in info.alert.bodyArguments { body(name) }
    for name in info.alert.titleArguments { body(name) }
    for name in info.alert.subtitleArguments { body(name) }
    if let key = info.collapseKey { body(key) }
  }
}

/// An account of every delivery since start (P12). A delivery is one notification × one
/// device registered at the match.
package struct Ledger: Hashable, Sendable {
  package var matched: Int64 = 0
  /// Deliveries pending in the tables at start; deliveries of the replayed tail count as matched.
  package var recovered: Int64 = 0
  package var own: Int64 = 0
  package var merged: Int64 = 0
  package var woken: Int64 = 0
  package var fetched: Int64 = 0
  package var withdrawn: Int64 = 0
  package var retired: Int64 = 0
  package var expired: Int64 = 0
  package var pending: Int64 = 0

  package init() {}

  package var isBalanced: Bool {
    matched + recovered == own + merged + woken + fetched + withdrawn + retired + expired + pending
  }

  /// Moves `count` deliveries from pending to `end`.
  package mutating func settle(_ count: Int, as end: WritableKeyPath<Ledger, Int64>) {
    pending -= Int64(count)
    self[keyPath: end] += Int64(count)
  }

  package static func + (left: Ledger, right: Ledger) -> Ledger {
    var sum = left
    for path in Self.columns { sum[keyPath: path] += right[keyPath: path] }
    return sum
  }

  private static var columns: [WritableKeyPath<Ledger, Int64>] {
    [
      \.matched, \.recovered, \.own, \.merged, \.woken, \.fetched, \.withdrawn, \.retired,
      \.expired, \.pending,
    ]
  }
}

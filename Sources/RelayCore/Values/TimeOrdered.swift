/// An item of a heap that is ordered by time. Items of the same time are in the order that `Item`
/// defines.
struct TimeOrdered<Item: Comparable & Sendable>: Comparable, Sendable {
  var at: Instant
  var item: Item

  static func < (left: Self, right: Self) -> Bool {
    left.at == right.at ? left.item < right.item : left.at < right.at
  }
}

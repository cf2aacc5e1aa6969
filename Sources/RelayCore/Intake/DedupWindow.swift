/// Drops repeats as they come in: 64-bit keyed hashes of (producer, source, id), in journal order.
/// Each partition has one; how much they hold together is bounded by `Relay.forgetIDs`.
package struct DedupWindow: Sendable {
  /// So many go in one step at most: a quiet day may leave millions that are too old.
  static let forgottenAtOnce = 4_096

  /// By the last byte. One set of millions stops the loop for half a second while it grows.
  private var known = [Set<UInt64>](repeating: [], count: 256)
  private var order = RememberedQueue()
  /// A fact that forgets ids is on its way into the journal.
  private(set) var isForgetAsked = false
  /// Remembered since the last cut, and the last fact all of whose ids were forgotten.
  private var written: [Remembered] = []
  private var forgotten = Ordinal.zero

  package init() {}

  package var count: Int { order.count }
  var isDirty: Bool { !written.isEmpty }
  package var oldest: Remembered? { order.first }

  /// - Parameter index: 0 is the oldest.
  subscript(index: Int) -> Remembered? { index < order.count ? order[index] : nil }

  func contains(_ fingerprint: UInt64) -> Bool {
    known[Self.bucket(fingerprint)].contains(fingerprint)
  }

  private static func bucket(_ fingerprint: UInt64) -> Int { Int(fingerprint & 0xFF) }

  /// - Returns: false if it is remembered already.
  package mutating func remember(_ item: Remembered) -> Bool {
    let bucket = Self.bucket(item.fingerprint)
    guard known[bucket].insert(item.fingerprint).inserted else { return false }
    order.append(item)
    written.append(item)
    return true
  }

  /// From the tables: nothing is written.
  mutating func load(_ item: Remembered) {
    guard known[Self.bucket(item.fingerprint)].insert(item.fingerprint).inserted else { return }
    order.append(item)
  }

  mutating func drain(into cut: inout PartitionCut) {
    (cut.remembered, cut.forgotten) = (written, forgotten)
    (written, forgotten) = ([], .zero)
  }

  /// `forget(through:)` will come as a fact.
  mutating func askedToForget() { isForgetAsked = true }

  /// Forgets what is too old, or the oldest of it.
  ///
  /// - Returns: the last fact all of whose ids are forgotten, if any went.
  @discardableResult
  package mutating func forget(at now: Instant, limits: Limits) -> Ordinal? {
    forget(atMost: Self.forgottenAtOnce) { $0.at + limits.rememberedFor <= now }
  }

  /// Forgets the ids of facts up to this one. A repeat changes nothing.
  ///
  /// - Returns: as above.
  @discardableResult
  package mutating func forget(through ordinal: Ordinal) -> Ordinal? {
    isForgetAsked = false
    return forget(atMost: .max) { $0.ordinal <= ordinal }
  }

  private mutating func forget(
    atMost count: Int, while isOver: (Remembered) -> Bool
  ) -> Ordinal? {
    var last: Ordinal?
    var left = count
    while left > 0, let first = order.first, isOver(first) {
      left -= 1
      order.removeFirst()
      known[Self.bucket(first.fingerprint)].remove(first.fingerprint)
      last = first.ordinal
    }
    if let last { forgotten = max(forgotten, last) }
    return last
  }
}

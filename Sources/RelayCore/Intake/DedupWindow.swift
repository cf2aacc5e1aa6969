/// Recognises repeated changes: remembers 64-bit keyed hashes of (producer, source, id), in journal
/// order. Each partition has one window; `Relay.forgetIDs` bounds the ids of all windows together.
package struct DedupWindow: Sendable {
  /// The most ids that one step forgets: after a quiet day millions may be too old.
  static let forgottenAtOnce = 4_096

  /// The remembered hashes, in one set for each value of a hash's last byte. A single set of
  /// millions would stop the loop for half a second while the set grows.
  private var known = [Set<UInt64>](repeating: [], count: 256)
  private var order = RememberedQueue()
  /// Whether a `forget` fact is on its way into the journal.
  private(set) var isForgetAsked = false
  /// Ids remembered since the last cut; `forgotten` is the last fact whose ids are all forgotten.
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

  /// - Returns: false if the id is remembered already.
  package mutating func remember(_ item: Remembered) -> Bool {
    guard load(item) else { return false }
    written.append(item)
    return true
  }

  /// Takes over a row of the tables, which no cut writes back.
  ///
  /// - Returns: false if the id is remembered already.
  @discardableResult
  mutating func load(_ item: Remembered) -> Bool {
    guard known[Self.bucket(item.fingerprint)].insert(item.fingerprint).inserted else {
      return false
    }
    order.append(item)
    return true
  }

  mutating func drain(into cut: inout PartitionCut) {
    (cut.remembered, cut.forgotten) = (written, forgotten)
    (written, forgotten) = ([], .zero)
  }

  /// The relay journals a fact that calls `forget(through:)`.
  mutating func askedToForget() { isForgetAsked = true }

  /// Forgets ids that are too old, at most `forgottenAtOnce` of them.
  ///
  /// - Returns: the last fact whose ids are all forgotten; `nil` if no id was forgotten.
  @discardableResult
  package mutating func forget(at now: Instant, limits: Limits) -> Ordinal? {
    forget(atMost: Self.forgottenAtOnce) { $0.at + limits.rememberedFor <= now }
  }

  /// Forgets the ids of facts up to and including `ordinal`. A repeated call changes nothing.
  ///
  /// - Returns: the last fact whose ids are all forgotten; `nil` if no id was forgotten.
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

/// Tokens that an operator has expired, and whether a restore of the store still calls for it.
struct ForcedExpiries: Sendable {
  /// A signed token named a life that this store never had: the store was restored from a copy, and
  /// no forced expiry of all tokens has come since.
  private(set) var isRestoreProven = false
  /// Where an operator last expired all tokens. Clients have begun anew since, so a restore before
  /// this place is no news.
  private var last = Position.zero
  private var written: [FeedExpiry] = []
  private var writtenProof: Bool?

  init() {}

  init(loading tables: PartitionTables) {
    (isRestoreProven, last) = (tables.isRestoreProven, tables.expired)
  }

  var isDirty: Bool { !written.isEmpty || writtenProof != nil }

  mutating func expire(_ expiry: TokenExpiry, at position: Position) {
    written.append(FeedExpiry(of: expiry, floor: position))
    guard expiry == TokenExpiry() else { return }
    last = position
    prove(false)
  }

  /// A token names a place after `since` that the store does not have.
  mutating func lostHistory(since: Position) {
    if since > last { prove(true) }
  }

  private mutating func prove(_ isProven: Bool) {
    guard isProven != isRestoreProven else { return }
    isRestoreProven = isProven
    writtenProof = isProven
  }

  mutating func drain(into cut: inout PartitionCut) {
    (cut.expiries, cut.isRestoreProven) = (written, writtenProof)
    (written, writtenProof) = ([], nil)
  }
}

/// Tokens that an operator has expired, and whether a restored store still requires such an expiry.
struct ForcedExpiries: Sendable {
  /// Whether a signed token has proved that the store was restored from a copy, and no forced
  /// expiry of all tokens has followed.
  private(set) var isRestoreProven = false
  /// Where an operator last expired all tokens. Clients have started anew since then, so a restore
  /// that came before this position needs no further expiry.
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

  /// A token names a history that the store does not have. The history that replaced the lost
  /// history begins at `since`.
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

/// The store says no. Codes are a public contract: documented, in logs, metrics and answers.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  package struct Code: Hashable, Sendable, CustomStringConvertible {
    package let description: String
    private init(_ description: String) { self.description = description }

    /// Another daemon holds it. Nothing was touched.
    package static let inUse = Code("store_in_use")
    /// No room. Nothing was written: answer 503, go on with room.
    package static let full = Code("store_full")
    /// Another program keeps it locked. Nothing was written: answer 503, go on when it lets go.
    package static let busy = Code("store_busy")
    /// An I/O error, or no permission to write. Nothing was written: answer 503 and try again.
    package static let unwritable = Code("store_unwritable")
    /// More at once than it can ever take. Nothing was written: try again with less.
    package static let tooLarge = Code("store_too_large")
    /// The lease's epoch is over. Nothing was written: another relay owns the partition.
    package static let stale = Code("store_lease_stale")
    /// Not a store of ours, or damaged.
    package static let corrupt = Code("store_corrupt")
    /// Its two files do not belong together: they are of different stores or different moments.
    package static let mixed = Code("store_mixed")
    /// Written by a newer version.
    package static let newer = Code("store_newer")
    /// A read failed; nothing is known to be wrong with what is written.
    package static let unreadable = Code("store_unreadable")
    /// A write whose outcome nobody knows: stop, and let recovery decide.
    package static let unknown = Code("store_outcome_unknown")
  }

  package var code: Code
  /// What happened, to which file, and what to do about it.
  package var message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { "\(code): \(message)" }

  /// Nothing was written, and the same may be written later.
  package var isPassing: Bool { code == .full || code == .busy || code == .unwritable }
}

/// An error of the store. The codes are a public contract: they appear in the documentation, logs,
/// metrics and answers.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  package struct Code: Hashable, Sendable, CustomStringConvertible {
    package let description: String
    private init(_ description: String) { self.description = description }

    /// Another daemon has the store open. Nothing was changed.
    package static let inUse = Code("store_in_use")
    /// No space is left, and nothing was written. The relay answers 503, and continues when there
    /// is space.
    package static let full = Code("store_full")
    /// Another program has locked the store, and nothing was written. The relay answers 503, and
    /// continues when the store is unlocked.
    package static let busy = Code("store_busy")
    /// An I/O error, or no permission to write; nothing was written. The relay answers 503 and
    /// tries again.
    package static let unwritable = Code("store_unwritable")
    /// The write exceeds the store's maximum size, and nothing was written. The relay tries again
    /// with less.
    package static let tooLarge = Code("store_too_large")
    /// The lease's epoch has ended, because another relay owns the partition. Nothing was written.
    package static let stale = Code("store_lease_stale")
    /// The file is not a store of zonerelay, or is damaged.
    package static let corrupt = Code("store_corrupt")
    /// The store's two files are from different stores or from different moments.
    package static let mixed = Code("store_mixed")
    /// The store was written by a newer version.
    package static let newer = Code("store_newer")
    /// A read failed; the stored data is not known to be wrong.
    package static let unreadable = Code("store_unreadable")
    /// It is unknown whether a write was done. The daemon stops, and the next start finds it out.
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

  /// Whether nothing was written and a later try may succeed.
  package var isPassing: Bool { code == .full || code == .busy || code == .unwritable }
}

package import RelayCore

/// Keeps the newest entries of what the relay decided, for explanations. The recorder may lose
/// entries, and then adds an entry that says so; the relay never waits for the recorder.
///
/// Each life of the recorder begins with an entry `began`. An entry `lost` comes before `began` if
/// earlier lives may have had further entries. One conformance suite holds for all implementations.
package protocol FlightRecorder: Sendable {
  /// A life of the daemon begins. The engine calls this once, before the first entry.
  ///
  /// - Parameter life: a number that rises by one with each life of the store. If the number does
  ///   not directly follow that of the last life that ended cleanly, entries of a life between may
  ///   be missing.
  func begin(life: UInt64)

  /// Takes entries in their order. Only the loop calls this function, which never blocks. If too
  /// many entries wait to be written, a batch without room is not taken, and a later entry says how
  /// many were lost.
  func record(_ batches: [TraceBatch])

  /// How many entries this life has taken. A caller may give this number to `read` as `place`.
  var place: UInt64 { get }

  /// Gives the kept entries to `body`, oldest first, in parts of a bounded size. Entries that this
  /// life takes after `place` are left out.
  ///
  /// - Parameter body: returns false to end the reading.
  /// - Throws: `TraceError` if nothing can be read.
  func read(
    through place: UInt64, _ body: @escaping @Sendable ([TraceEntry]) -> Bool
  ) async throws(TraceError)

  var health: RecorderHealth { get }

  /// Writes the entries that wait, and then a mark which says that no entry is missing at the end.
  /// A second call does nothing.
  func close() async
}

/// The state of a flight recorder.
package struct RecorderHealth: Hashable, Sendable {
  /// Why entries are not written now, as a sentence with its remedy; `nil` means that they are.
  package var trouble: String?
  /// Entries that this life has taken, and entries that it has lost.
  package var recorded: UInt64 = 0
  package var lost: UInt64 = 0
  /// The size of the recorder's file in bytes.
  package var bytes: Int64 = 0

  package init() {}
}

/// Why the flight recorder gives no entries.
package struct TraceError: Error, Hashable, Sendable, CustomStringConvertible {
  package struct Code: Hashable, Sendable, CustomStringConvertible {
    package let description: String
    private init(_ description: String) { self.description = description }

    /// The configuration switches the recorder off.
    package static let off = Code("trace_off")
    /// The recorder's file cannot be read.
    package static let unreadable = Code("trace_unreadable")
    /// Too many explanations are being made at the same time.
    package static let busy = Code("trace_busy")
  }

  package var code: Code
  package var message: String

  package init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

  package var description: String { "\(code): \(message)" }
}

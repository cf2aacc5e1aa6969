/// How much the coordinator does at once. No configuration key sets these bounds. They are measured
/// compromises between throughput and the delay of other callers. A simulation makes the bounds
/// small, so that a small world reaches them.
package struct WorkBounds: Hashable, Sendable {
  /// The bound of one commit, unless a single request is larger. It takes some hundredths of a
  /// second to write such a commit, and the next commit waits for that long.
  package struct Commit: Hashable, Sendable {
    package var facts = 1_024
    package var bytes = 2 << 20

    package init() {}
    package init(facts: Int, bytes: Int) { (self.facts, self.bytes) = (facts, bytes) }
  }

  package var commit = Commit()
  /// How many entries may wait for the next cut while a reader waits for a fold. With more entries,
  /// callers that have had a turn since the last cut wait for the cut. A fold of so many entries
  /// takes some forty milliseconds, and a reader may wait for two folds. A request is never
  /// divided, so a request may add 1,000 entries more.
  package var entriesForReader = 1_000
  /// The most work of one turn, in the units that `Relay.step` returns; it takes some ten
  /// milliseconds.
  package var workPerTurn = 128 << 10
  /// A partition with this many new entries is left out of every second cut that a reader waits
  /// for. A fold of so many entries takes some ten milliseconds.
  package var entriesOfLarge = 256
  /// How many entries may wait for the next cut; with more entries, slices of wide changes wait. A
  /// fold of so many entries takes about a tenth of a second.
  package var entriesForSlices = 4_000

  package init() {}
}

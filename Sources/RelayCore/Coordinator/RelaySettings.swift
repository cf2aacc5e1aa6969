/// The settings of the engine and of its coordinator.
package struct RelaySettings: Sendable {
  package var limits = Limits()
  package var policy = WakePolicy()
  /// The most facts that are accepted into the inbox and not yet answered.
  package var inboxMax = 65_536
  /// The most bytes, as footprints, of all facts that are accepted into the inbox and not yet
  /// answered.
  package var inboxBytesMax = 64 << 20
  /// The most readers that wait for a fold.
  package var readersMax = 4_096
  /// How long a request waits for a commit or a fold before the caller is told to retry.
  package var answerWithin = Span.seconds(20)
  /// The most facts that are journalled and not folded. From this number on, new facts are refused
  /// until folds catch up.
  package var journalTailMax = 1_000_000
  /// The most feed entries that wait for a cut. From this number on, new facts are refused and
  /// durable facts wait until folds catch up. One fact may make many entries: a public change makes
  /// one for each subscription that fires.
  package var entriesUncutMax = 500_000
  package var tombstonesKept = Span.days(30)
  package var notificationsKept = Span.days(30)
  package var feedbackKept = Span.days(30)
  /// How often the relay searches for entries that are too old.
  package var trimEvery = Span.minutes(1)
  /// How long a stop waits for the verdicts of pushes in flight.
  package var drainGrace = Span.seconds(12)

  package var work = WorkBounds()
  /// Whether entries for the flight recorder are made.
  package var isTraced = false

  package init() {}

  /// Whether new facts are accepted.
  ///
  /// - Parameters:
  ///   - tail: facts journalled and not folded.
  ///   - entries: feed entries that wait for a cut.
  func hasRoom(tail: Int, entries: Int) -> Bool {
    tail < journalTailMax && hasRoomInCut(entries: entries)
  }

  /// Whether durable facts may be stepped before the next cut is taken.
  func hasRoomInCut(entries: Int) -> Bool { entries < entriesUncutMax }
}

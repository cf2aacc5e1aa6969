/// What the engine and its coordinator are configured with.
package struct RelaySettings: Sendable {
  package var limits = Limits()
  package var policy = WakePolicy()
  /// Facts taken and not yet answered.
  package var inboxMax = 65_536
  /// What they take in memory, all together.
  package var inboxBytesMax = 64 << 20
  /// Readers that wait for a fold.
  package var readersMax = 4_096
  /// How long a request waits for a commit or a fold before it is told to come again.
  package var answerWithin = Span.seconds(20)
  /// Facts journalled and not folded; beyond, new ones are refused until folds catch up.
  package var journalTailMax = 1_000_000
  /// Feed entries that wait for a cut; beyond, new facts are refused, and durable ones wait, until
  /// folds catch up. One fact may make many: a public change one for each of its subscribers.
  package var entriesUncutMax = 500_000
  package var tombstonesKept = Span.days(30)
  package var notificationsKept = Span.days(30)
  package var feedbackKept = Span.days(30)
  /// How often what is too old is looked for.
  package var trimEvery = Span.minutes(1)
  /// How long a stop waits for verdicts of pushes in flight.
  package var drainGrace = Span.seconds(12)

  package var work = WorkBounds()

  package init() {}

  /// Whether new facts are taken.
  ///
  /// - Parameters:
  ///   - tail: facts journalled and not folded.
  ///   - entries: of feeds, that wait for a cut.
  func hasRoom(tail: Int, entries: Int) -> Bool {
    tail < journalTailMax && hasRoomInCut(entries: entries)
  }

  /// Whether durable facts are stepped before the next cut is taken.
  func hasRoomInCut(entries: Int) -> Bool { entries < entriesUncutMax }
}

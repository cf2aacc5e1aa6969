/// The name of a branch of the coordinator's code. A simulation proves nothing about a branch that
/// the simulation has not reached.
package enum Branch: UInt8, CaseIterable, Sendable {
  // Branches in the code that commits facts in groups.
  /// A waiting fact did not fit into a commit, so the fact waited for the next commit.
  case commitFull
  /// A single request was larger than the bound of a commit, and was not divided.
  case requestKeptWhole
  /// A fold was awaited. So further facts of callers that had used up their turn waited until the
  /// cut of that fold.
  case commitHeldForReader
  case commitRefused
  case commitRepeated
  /// The store refused a commit for its size; the commit is tried again in parts.
  case commitDivided
  /// The store will never accept the request.
  case requestRefused
  case valuesLeftOut

  // Branches in the code that takes requests and answers them.
  case fanOutsFull
  case forwardsFull
  /// Too many facts or entries wait for folds, so new facts are refused.
  case admissionEnded
  case requestInSeveralPartitions
  case answeredWhenStepped
  case answerWaited
  case requestGivenUp
  /// A request waited for a fold that the store refused, and was answered with that refusal.
  case requestGivenUpByFold

  // Branches in the code that steps facts.
  /// The turn ended before all durable facts were stepped.
  case turnEnded
  /// The next cut was full, so durable facts waited until that cut was taken.
  case steppingHeldForCut

  // Branches in the code that delivers messages and goes on with wide changes.
  case messagesDelivered
  case messageHeldForRoom
  case sliceStarted
  case sliceHeldForFold

  // Branches in the code that folds, and that trims: it removes old entries from the store.
  case foldRefused
  case foldRepeated
  /// A fold was begun only to test whether the store works again.
  case foldTried
  case cutWithoutTorn
  case cutWithoutLarge
  case trimmed
  case trimmedInParts
  case trimRefused

  // Branches in the code that decides whether to believe the clock.
  case clockJumped
  case clockBelieved
  case clockCorrected

  // Branches in the code that gives pushes to senders and recalls them.
  case pushRecalled
  case pushWithoutSender

  // Branches in the code that starts, reloads and stops.
  case tailReplayed
  case outboxRecovered
  case reconfigured
  case stoppedAtRest
  case stoppedAtDeadline
  case lastCutTaken
  case lastCutLeftOut
}

/// The set of branches that were reached.
package struct Branches: Hashable, Sendable {
  private var bits: UInt64 = 0

  package init() {}

  package mutating func insert(_ branch: Branch) { bits |= 1 << UInt64(branch.rawValue) }
  package mutating func formUnion(_ other: Branches) { bits |= other.bits }
  package func contains(_ branch: Branch) -> Bool { bits & 1 << UInt64(branch.rawValue) != 0 }
}

/// A decision of the coordinator, by its name. A simulation that has not reached one of them says
/// nothing about it.
package enum Branch: UInt8, CaseIterable, Sendable {
  // Group commit.
  /// Something waited for the next commit, because this one had reached its bound.
  case commitFull
  /// A request alone was larger than the bound of a commit, and was not divided.
  case requestKeptWhole
  /// Facts of callers who had had their turn waited for a cut that a reader waits for.
  case commitHeldForReader
  case commitRefused
  case commitRepeated
  /// The store refused a commit for its size, and it is tried again in parts.
  case commitDivided
  /// A request that the store will never take.
  case requestRefused
  case valuesLeftOut

  // Intake and answers.
  case fanOutsFull
  case forwardsFull
  /// Too much waits for folds: new facts are refused.
  case admissionEnded
  case requestInSeveralPartitions
  case answeredWhenStepped
  case answerWaited
  case requestGivenUp
  /// A request that waited for a fold was told that the store refused it.
  case requestGivenUpByFold

  // Stepping.
  /// One turn did not step all that was durable.
  case turnEnded
  /// The next cut was full: durable facts waited for it.
  case steppingHeldForCut

  // Messages and wide changes.
  case messagesDelivered
  case messageHeldForRoom
  case sliceStarted
  case sliceHeldForFold

  // Folds.
  case foldRefused
  case foldRepeated
  /// A fold was begun for nothing but to learn whether the store works again.
  case foldTried
  case cutWithoutTorn
  case cutWithoutLarge
  case trimmed
  case trimmedInParts
  case trimRefused

  // Time.
  case clockJumped
  case clockBelieved
  case clockCorrected

  // Pushes.
  case pushRecalled
  case pushWithoutSender

  // Start, reload and stop.
  case tailReplayed
  case outboxRecovered
  case reconfigured
  case stoppedAtRest
  case stoppedAtDeadline
  case lastCutTaken
  case lastCutLeftOut
}

/// Which branches were reached.
package struct Branches: Hashable, Sendable {
  private var bits: UInt64 = 0

  package init() {}

  package mutating func insert(_ branch: Branch) { bits |= 1 << UInt64(branch.rawValue) }
  package mutating func formUnion(_ other: Branches) { bits |= other.bits }
  package func contains(_ branch: Branch) -> Bool { bits & 1 << UInt64(branch.rawValue) != 0 }
}

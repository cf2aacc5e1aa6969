/// One bug put into the simulated shell, store or world (never into the core): the checkers must
/// find it, or they check nothing.
package enum Mutant: String, CaseIterable, Sendable {
  /// The shell answers before the journal is durable.
  case answersEarly
  /// The store says that a page is complete, and it is not.
  case endsPagesEarly
  /// The store shows deletions of what its reader never knew.
  case showsEveryDeletion
  /// Readers do not wait for the fold.
  case readsEarly
  /// Verdicts say delivered of pushes that no provider took.
  case dropsPushes
  /// A push is handed over twice.
  case pushesTwice
  /// Restarts forget what the budget has spent.
  case forgetsBudgets
  /// The shell drops the author of a change.
  case forgetsAuthors
  /// The store asks no reader for a grant.
  case asksNoGrant
  /// Tokens are opened without their seal.
  case trustsTokens
  /// The inbox takes whatever comes.
  case neverRefuses
  /// A verdict is counted that never came.
  case countsTwice
  /// The facts of a request are journalled one by one, as they fit.
  case tearsRequests
  /// A commit holds whatever waits.
  case commitsEverything
  /// A store that will never take a commit says that it has no room for now.
  case triesForEver
  /// A start believes the wall clock.
  case believesClocks

  /// What does not hold with it.
  package var promise: Invariant {
    switch self {
    case .answersEarly: .nothingAcknowledgedIsLost
    case .endsPagesEarly, .tearsRequests: .catchUpIsWhole
    case .showsEveryDeletion: .catchUpIsMinimal
    case .readsEarly, .believesClocks: .nothingIsVisibleBeforeItIsDurable
    case .dropsPushes, .triesForEver: .everyDeviceIsWoken
    case .pushesTwice: .oneAttemptAtATime
    case .forgetsBudgets: .theBudgetHolds
    case .forgetsAuthors: .noDeviceIsWokenByItself
    case .asksNoGrant: .onlyTheEntitledSee
    case .trustsTokens: .noTokenIsForged
    case .neverRefuses, .commitsEverything: .everythingIsBounded
    case .countsTwice: .theLedgerBalances
    }
  }

  /// - Parameter text: a name, or the number of a promise for the first one that breaks it.
  package init?(text: String) {
    let found = Self.allCases.first { $0.rawValue == text || $0.promise.rawValue == text }
    guard let found else { return nil }
    self = found
  }
}

/// One planted bug in the simulated shell, store or world (never in the core). The checkers must
/// find it; if they do not, they are too weak to find a bug in the core.
package enum Mutant: String, CaseIterable, Sendable {
  /// The shell answers before the journal is durable.
  case answersEarly
  /// The store reports an incomplete page as complete.
  case endsPagesEarly
  /// The store shows deletions of subjects that the reader never held.
  case showsEveryDeletion
  /// Readers do not wait for the fold.
  case readsEarly
  /// The verdict of a push is `delivered` although no provider took the push.
  case dropsPushes
  /// The daemon hands each push to the provider twice.
  case pushesTwice
  /// A restart loses the budgets that devices have spent.
  case forgetsBudgets
  /// The shell drops the author of a change.
  case forgetsAuthors
  /// The store serves readers without a grant.
  case asksNoGrant
  /// Tokens are accepted without a check of their seal.
  case trustsTokens
  /// The inbox takes every request, even when full.
  case neverRefuses
  /// The ledger counts a verdict that never came.
  case countsTwice
  /// The facts of one request are journalled separately.
  case tearsRequests
  /// A commit ignores the bound that the plan sets, and holds more facts.
  case commitsEverything
  /// The store reports a commit that is too large as a commit for which it has no room now.
  case triesForEver
  /// A start trusts the wall clock.
  case believesClocks
  /// The flight recorder loses entries, and does not say so.
  case losesEntries
  /// The flight recorder does not tell the alerts of one change from each other.
  case mixesAlerts

  /// The promise that this bug breaks.
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
    case .losesEntries, .mixesAlerts: .explanationsAreTrue
    }
  }

  /// - Parameter text: a mutant's name, or a promise's number for the first mutant that breaks it.
  package init?(text: String) {
    let found = Self.allCases.first { $0.rawValue == text || $0.promise.rawValue == text }
    guard let found else { return nil }
    self = found
  }
}

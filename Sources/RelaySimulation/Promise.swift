/// The promises of the design, by number: what a checker is named after.
package enum Promise: String, CaseIterable, Sendable {
  case nothingAcknowledgedIsLost = "P1"
  case catchUpIsWhole = "P2"
  case catchUpIsMinimal = "P3"
  case nothingIsVisibleBeforeItIsDurable = "P4"
  case everyDeviceIsWoken = "P5"
  case oneAttemptAtATime = "P6"
  case theBudgetHolds = "P7"
  case noDeviceIsWokenByItself = "P8"
  case onlyTheEntitledSee = "P9"
  case noTokenIsForged = "P10"
  case everythingIsBounded = "P11"
  case theLedgerBalances = "P12"
}

/// A promise that did not hold.
struct Broken: Error {
  var promise: Promise
  var text: String

  init(_ promise: Promise, _ text: String) {
    self.promise = promise
    self.text = text
  }
}

/// One bug put into the simulated driver, store or world (never into the core): the checkers must
/// find it, or they check nothing.
package enum Planted: String, CaseIterable, Sendable {
  /// The driver answers before the journal is durable.
  case answersEarly = "P1"
  /// The store says that a page is complete, and it is not.
  case endsPagesEarly = "P2"
  /// The store shows deletions of what its reader never knew.
  case showsEveryDeletion = "P3"
  /// Readers do not wait for the fold.
  case readsEarly = "P4"
  /// Verdicts say delivered of pushes that no provider took.
  case dropsPushes = "P5"
  /// A push is handed over twice.
  case pushesTwice = "P6"
  /// Restarts forget what the budget has spent.
  case forgetsBudgets = "P7"
  /// The driver drops the author of a change.
  case forgetsAuthors = "P8"
  /// The store asks no reader for a grant.
  case asksNoGrant = "P9"
  /// Tokens are opened without their seal.
  case trustsTokens = "P10"
  /// The inbox takes whatever comes.
  case neverRefuses = "P11"
  /// A verdict is counted that never came.
  case countsTwice = "P12"
}

/// The promises of the design with their numbers, and what else the checkers check.
package enum Invariant: String, CaseIterable, Sendable {
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
  /// Not a promise of the design: an explanation is true, or says that the outcome is unknown.
  case explanationsAreTrue = "explain"
}

/// A promise that was broken.
struct InvariantViolation: Error {
  var promise: Invariant
  var text: String

  init(_ promise: Invariant, _ text: String) {
    self.promise = promise
    self.text = text
  }
}

/// Runs a history, which throws only broken promises, and returns the promise that breaks; nil if
/// none breaks.
func violation(in history: () throws -> Void) -> InvariantViolation? {
  do {
    try history()
    return nil
  } catch let broken as InvariantViolation {
    return broken
  } catch {
    preconditionFailure("the simulation throws nothing but broken promises: \(error)")
  }
}

/// Throws unless the promise holds.
func demand(_ promise: Invariant, _ holds: Bool, _ text: @autoclosure () -> String) throws {
  if !holds { throw InvariantViolation(promise, text()) }
}

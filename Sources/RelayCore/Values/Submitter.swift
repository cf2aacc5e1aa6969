/// The submitter of facts. Submitters with waiting facts share the commits.
package enum Submitter: Hashable, Sendable {
  /// One user or producer, by a number that the HTTP layer assigns. Callers with the same number
  /// share a turn.
  case caller(UInt64)
  /// An operator, and facts of the relay's own.
  case relay
}

/// The origin of submitted facts. Submitters whose facts wait take turns in the commits.
package enum Submitter: Hashable, Sendable {
  /// One user or producer, by a number that the HTTP layer assigns. Callers with the same number
  /// share a turn.
  case caller(UInt64)
  /// An operator, or the relay itself.
  case relay
}

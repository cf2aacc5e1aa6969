/// Who submits facts, so that the commits are shared between those who have some waiting.
package enum Submitter: Hashable, Sendable {
  /// One user or producer, by a number that the HTTP layer gives it; two of one number share a
  /// turn.
  case caller(UInt64)
  /// An operator, and what the relay does of its own accord.
  case relay
}

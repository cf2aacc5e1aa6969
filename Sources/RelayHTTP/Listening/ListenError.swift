/// A server could not begin to listen.
package struct ListenError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What happened, where, and what to do about it.
  package let description: String

  init(_ description: String) { self.description = description }
}

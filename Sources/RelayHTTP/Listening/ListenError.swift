/// A server could not start to listen.
package struct ListenError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What failed, and at which address, path or file.
  package let description: String
  package var remedy = "`ss -lntxp` shows who listens there; stop it, or choose another place"
}

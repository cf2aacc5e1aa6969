import RelayCore
import RelayEngine

/// Against whose share of a bound a request counts.
enum CallerID: Hashable, Sendable {
  case user(Scope, UserID)
  /// A producer by its name in the configuration.
  case producer(Scope, String)
  /// A signed request, before its body has verified the signature: the key id is only claimed, and
  /// another sender may claim the same one, so the address counts too.
  case claimed(Scope, String, RemoteAddress?)
  /// The control socket.
  case operators

  /// Whose turn its facts wait for. Numbers are this process's own.
  var submitter: Submitter {
    self == .operators ? .relay : .caller(UInt64(bitPattern: Int64(hashValue)))
  }
}

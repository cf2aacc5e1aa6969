import RelayCore
import RelayEngine

/// The caller against whose share of a bound a request counts.
enum CallerID: Hashable, Sendable {
  case user(Scope, UserID)
  /// A producer by its name in the configuration.
  case producer(Scope, String)
  /// A signed request whose signature is not verified yet, because the body is missing. The key id
  /// is only claimed, and another sender may claim the same one, so the address counts too.
  case claimed(Scope, String, RemoteAddress?)
  /// The control socket.
  case operators

  /// The submitter that stands for this caller when facts take turns. The submitter's number is
  /// valid in this process only.
  var submitter: Submitter {
    self == .operators ? .relay : .caller(UInt64(bitPattern: Int64(hashValue)))
  }
}

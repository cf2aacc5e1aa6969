import RelayCore
import RelayEngine

/// Identifies the caller whose share of a limit a request uses.
enum CallerID: Hashable, Sendable {
  case user(Scope, UserID)
  /// A producer by its name in the configuration.
  case producer(Scope, String)
  /// The sender of a signed request whose body, and so its signature, is not verified yet. Any
  /// sender can claim the same key id, so the sender's address is part of the identity.
  case claimed(Scope, String, RemoteAddress?)
  /// The operators, who use the control socket.
  case operators

  /// The submitter that stands for this caller in the coordinator, where submitters take turns. The
  /// submitter's number is valid in this process only.
  var submitter: Submitter {
    self == .operators ? .relay : .caller(UInt64(bitPattern: Int64(hashValue)))
  }
}

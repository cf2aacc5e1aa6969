/// A failure of the machine around the daemon.
package struct SystemError: Error, CustomStringConvertible, Sendable {
  /// The stable name of a kind of failure.
  package struct Code: Hashable, Sendable {
    package let name: String
    fileprivate init(_ name: String) { self.name = name }
  }

  /// The sockets of systemd cannot be taken, or one has a name that the daemon does not serve.
  package let code = Code("system_listen_sockets")
  /// What happened, with which item, and why.
  package let message: String
  /// What the operator can do about the failure.
  package let remedy: String

  package var description: String { "\(message); \(remedy)" }
}

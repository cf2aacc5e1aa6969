import RelaySystem

/// What a try to take an address of the configuration found.
struct PortEvidence: Sendable {
  enum Outcome: Hashable, Sendable {
    case free
    case taken(Holder)
    case foreign
    case forbidden
    case failed(String)
    /// The running daemon listens on another address, which systemd may have given it.
    case elsewhere(ListenAddress, isInherited: Bool)
  }

  enum Holder: Hashable, Sendable {
    case daemon
    /// systemd holds the socket for the daemon (`zonerelay.socket`).
    case systemd
    case other(name: String, pid: Int32)
    /// This user may not see which process holds the address.
    case unknown
  }

  /// The key of the address, such as `server.listen`.
  var key: String
  var address: ListenAddress
  var outcome: Outcome
  var isRunning: Bool

  var finding: Finding {
    let subject = "\(key) \(address)"
    return switch outcome {
    case .free where isRunning:
      .found(.portNotServed, subject, cause: "no process listens on \(address)")
    case .free: .passed(.port, subject, "it is free")
    case .taken(.daemon): .passed(.port, subject, "the running daemon listens on it")
    case .taken(.systemd): .passed(.port, subject, "systemd holds it for the daemon")
    case .taken(.other(let name, let pid)):
      .found(
        .portTaken, subject, cause: "\(name) (process \(pid)) listens on it",
        remedy: "stop \(name) (process \(pid)), or change \(key)")
    case .taken(.unknown) where isRunning:
      .skipped(
        .port, subject, "it is in use, and this user may not see by which process",
        remedy: Finding.otherUser)
    case .taken(.unknown):
      .found(.portTaken, subject, cause: "\(address) is in use, and no daemon runs")
    case .foreign: .found(.addressForeign, subject, cause: "no interface of this machine has it")
    case .forbidden: .found(.portForbidden, subject, cause: "the system does not permit it")
    case .elsewhere(let actual, isInherited: true):
      .passed(.port, subject, "a socket of systemd takes its place: the daemon has \(actual)")
    case .elsewhere(let actual, isInherited: false):
      .found(.portNotServed, subject, cause: "the daemon listens on \(actual)")
    case .failed(let reason): .found(.portTaken, subject, cause: reason)
    }
  }
}

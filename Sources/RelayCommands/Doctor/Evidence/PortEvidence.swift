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
    /// This user may not see which process it is.
    case unknown
  }

  /// The key of the address, such as `server.listen`.
  var key: String
  var address: ListenAddress
  var outcome: Outcome
  var isRunning: Bool

  var findings: [Finding] {
    let subject = "\(key) \(address)"
    switch outcome {
    case .free where isRunning:
      return [.found(.portNotServed, subject, cause: "no process listens on \(address)")]
    case .free: return [.passed(.port, subject, "it is free")]
    case .taken(.daemon): return [.passed(.port, subject, "the running daemon listens on it")]
    case .taken(.systemd): return [.passed(.port, subject, "systemd holds it for the daemon")]
    case .taken(.other(let name, let pid)):
      return [
        .found(
          .portTaken, subject, cause: "\(name) (process \(pid)) listens on it",
          remedy: "stop \(name) (process \(pid)), or change \(key)")
      ]
    case .taken(.unknown) where isRunning:
      return [
        .skipped(
          .port, subject, "it is in use, and this user may not see by which process",
          remedy: "run the doctor as root or as the daemon's user")
      ]
    case .taken(.unknown):
      return [.found(.portTaken, subject, cause: "\(address) is in use, and no daemon runs")]
    case .foreign:
      return [.found(.addressForeign, subject, cause: "no interface of this machine has it")]
    case .forbidden:
      return [.found(.portForbidden, subject, cause: "the system does not permit it")]
    case .elsewhere(let actual, isInherited: true):
      return [
        .passed(.port, subject, "a socket of systemd takes its place: the daemon has \(actual)")
      ]
    case .elsewhere(let actual, isInherited: false):
      return [.found(.portNotServed, subject, cause: "the daemon listens on \(actual)")]
    case .failed(let reason): return [.found(.portTaken, subject, cause: reason)]
    }
  }
}

package import RelayCore

/// Whether the relay serves requests, or why not. Probes ask often, so to read the readiness costs
/// little: it needs no answer of the loop and computes no figures.
package enum Readiness: Hashable, Sendable {
  case ready
  case recovering
  /// Recovery cannot begin yet, for this reason: a sentence with its remedy.
  case waiting(String)
  case draining
  /// The loop has ended, or could not begin.
  case stopping

  package var isReady: Bool { self == .ready }

  /// Reasons as sentences for people; none if the relay is ready.
  package var reasons: [String] {
    switch self {
    case .ready: []
    case .recovering: ["recovery is not over yet"]
    case .waiting(let reason): [reason]
    case .draining: ["it drains: changes and registrations are refused until it is restarted"]
    case .stopping: ["it is stopping"]
    }
  }
}

extension Unavailable {
  /// The error for requests while the relay takes none.
  package init(notReady readiness: Readiness) {
    self = readiness == .draining || readiness == .stopping ? .draining : .recovering
  }
}

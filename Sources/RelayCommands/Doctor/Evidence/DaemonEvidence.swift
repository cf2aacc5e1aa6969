import RelayWire

/// What the daemon said of itself over the control socket.
struct DaemonEvidence: Sendable {
  enum Outcome: Sendable {
    case answered(StatusReport)
    /// No daemon answers on the socket.
    case stopped
    case silent(cause: String, remedy: String?)
  }

  var socket: String
  var outcome: Outcome

  /// The status of the running daemon.
  var report: StatusReport? {
    if case .answered(let report) = outcome { report } else { nil }
  }

  var findings: [Finding] {
    switch outcome {
    case .stopped:
      return [.found(.daemonStopped, socket, cause: "no process answers on \(socket)")]
    case .silent(let cause, let remedy):
      return [.found(.daemonSilent, socket, cause: cause, remedy: remedy)]
    case .answered(let report):
      let subject = "process \(report.pid)"
      guard report.reasons.isEmpty else {
        return report.reasons.map { .found(.daemonUnhealthy, subject, cause: $0) }
      }
      return [
        .passed(
          .daemon, subject,
          "zonerelay \(report.version) is healthy, up \(HumanFormat.age(report.uptime))")
      ]
    }
  }
}

import RelayWire

/// What the daemon said of itself over the control socket.
struct DaemonEvidence: Sendable {
  var socket: String
  var outcome: Result<StatusReport, Failure>

  /// The status of the running daemon.
  var report: StatusReport? {
    if case .success(let report) = outcome { report } else { nil }
  }

  var findings: [Finding] {
    switch outcome {
    case .failure(let failure) where failure.status == .notRunning:
      return [.found(.daemonStopped, socket, cause: "no process answers on \(socket)")]
    case .failure(let failure):
      return [.found(.daemonSilent, socket, cause: failure.message, remedy: failure.hint)]
    case .success(let report):
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

import Logging
import RelayCore
import RelayHTTP

extension HealthIssues {
  private static let certificates = "certificates"

  /// Reports which client certificates no provider accepts at `now`: in the log, and as health
  /// issues until the next call.
  func tell(certificatesOf settings: Settings, at now: Instant, _ logger: Logger) {
    let misfits = settings.misfits(certificatesAt: now)
    for misfit in misfits {
      logger.warning("client certificate not valid now", metadata: ["reason": "\(misfit)"])
    }
    guard !misfits.isEmpty else { return settle(Self.certificates) }
    tell(Self.certificates, misfits.joined(separator: "; "))
  }
}

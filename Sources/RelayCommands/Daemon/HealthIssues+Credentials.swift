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

  /// Reports until the next start that the store's own key was lost: the operator may still restore
  /// it.
  func tell(lostKeyOf directory: String, _ logger: Logger) {
    let path = "\(directory)/keys/1.key"
    logger.warning("the store's key was missing, a new one is made", metadata: ["path": "\(path)"])
    tell(
      "store key",
      "\(path) was missing although the store is not new, and a new key was made: tokens that "
        + "the old one signed expire, and new notifications have other ids; put the key of a "
        + "backup there and restart, or accept it: the next start says no more of it")
  }
}

import Logging
import RelayHTTP

extension HealthIssues {
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

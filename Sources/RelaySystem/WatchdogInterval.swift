import CSystemd
package import RelayCore

/// How often systemd wants to hear that the daemon lives.
package enum WatchdogInterval {
  /// `WatchdogSec` of the unit; nil where no watchdog watches this process.
  package static var current: Span? {
    var microseconds: UInt64 = 0
    guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
    return Span(milliseconds: Int64(clamping: microseconds / 1_000))
  }
}

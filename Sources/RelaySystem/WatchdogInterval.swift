import CSystemd
package import RelayCore

/// The interval within which systemd expects a watchdog message.
package enum WatchdogInterval {
  /// `WatchdogSec` of the unit; nil if no watchdog supervises this process.
  package static var current: Span? {
    var microseconds: UInt64 = 0
    guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
    return Span(milliseconds: Int64(clamping: microseconds / 1_000))
  }
}

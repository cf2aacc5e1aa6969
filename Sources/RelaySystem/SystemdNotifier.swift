import CSystemd
import Glibc
package import RelayCore
import RelayEngine
import Synchronization

/// Tells systemd how the daemon is; does nothing where no systemd listens.
///
/// Whether one listens is decided by `NOTIFY_SOCKET` and `WATCHDOG_USEC` when the notifier is made.
/// Every call is safe from any thread. A message that systemd does not take is not repeated: the
/// next one tells more, and a missed watchdog message is what the watchdog is for.
package final class SystemdNotifier: ServiceNotifier {
  private let isHeard: Bool
  private let beatGap: Int64?
  /// With the loop and the notifier keeping a quarter each, no two messages are further apart than
  /// half the watchdog's interval.
  package let beatEvery: Span
  private let clock = SystemClock()
  private let lastBeat = Atomic<Int64>(.min)
  private let lastStatus = Mutex("")

  package init() {
    isHeard = getenv("NOTIFY_SOCKET") != nil
    // Four beats an interval: one that comes late or gets lost kills nobody.
    beatGap = WatchdogInterval.current.map { max(1, $0.milliseconds / 4) }
    beatEvery = min(.seconds(1), Span(milliseconds: beatGap ?? .max))
  }

  /// The start waits for what may take long. systemd would end it when the unit's time for starting
  /// is over: say this every few seconds, and it does not.
  package func waiting(_ line: String) {
    status(line)
    send("EXTEND_TIMEOUT_USEC=\(Self.starting.milliseconds * 1_000)")
  }

  /// As long as the unit grants a start: what comes after the wait is a recovery like any other.
  private static let starting = Span.seconds(300)

  /// Recovery, or a reload, is over: the daemon serves.
  package func ready() { send("READY=1") }

  /// One line for people, shown by `systemctl status`; the same line is sent once.
  package func status(_ line: String) {
    let line = String(line.map { $0.isNewline ? " " : $0 })
    let isNews = lastStatus.withLock { last in
      defer { last = line }
      return last != line
    }
    if isNews { send("STATUS=\(line)") }
  }

  /// The decision loop turned. Cheap enough for every turn: most beats send nothing.
  package func beat() {
    guard let beatGap else { return }
    let now = clock.boot().milliseconds
    let last = lastBeat.load(ordering: .relaxed)
    guard last == .min || now - last >= beatGap else { return }
    let (isOurs, _) = lastBeat.compareExchange(expected: last, desired: now, ordering: .relaxed)
    if isOurs { send("WATCHDOG=1") }
  }

  /// The settings are being read again; call ``ready()`` when that is over, well or badly.
  package func reloading() {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    send("RELOADING=1\nMONOTONIC_USEC=\(microseconds)")
  }

  /// The daemon is on its way out. The time that its unit grants for it may be shorter than the
  /// grace: systemd waits for the longer of the two.
  package func stopping(grace: Span) {
    let microseconds = (grace + Self.closing).milliseconds * 1_000
    send("STOPPING=1\nEXTEND_TIMEOUT_USEC=\(microseconds)")
  }

  /// What comes after the grace: folds under way, the last cut, and the store's end.
  private static let closing = Span.seconds(30)

  private func send(_ state: String) {
    guard isHeard else { return }
    // The result is dropped on purpose, see above.
    _ = sd_notify(0, state)
  }
}

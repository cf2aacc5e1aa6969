import CSystemd
import Glibc
package import RelayCore
import RelayEngine
import Synchronization

/// Reports the daemon's state to systemd; does nothing where no systemd listens.
///
/// When the notifier is made, `NOTIFY_SOCKET` and `WATCHDOG_USEC` decide whether it sends messages
/// and beats. Every call is safe from any thread. A message that systemd does not take is not
/// repeated: the next message carries the newer state, and the watchdog acts on missing beats.
package final class SystemdNotifier: ServiceNotifier {
  private let isHeard: Bool
  private let beatGap: Int64?
  /// The longest pause between two calls of `beat`. The loop and the notifier each delay a beat by
  /// a quarter of the watchdog's interval at most, so two messages are at most half an interval
  /// apart.
  package let beatEvery: Span
  private let clock = SystemClock()
  private let lastBeat = Atomic<Int64>(.min)
  private let lastStatus = Mutex("")

  package init() {
    isHeard = getenv("NOTIFY_SOCKET") != nil
    // Send four beats an interval, so that one late or lost beat does not make systemd end the
    // daemon.
    beatGap = Self.watchdogInterval.map { max(1, $0.milliseconds / 4) }
    beatEvery = min(.seconds(1), Span(milliseconds: beatGap ?? .max))
  }

  /// `WatchdogSec` of the unit, within which systemd expects a beat; nil if no watchdog supervises
  /// this process.
  package static var watchdogInterval: Span? {
    var microseconds: UInt64 = 0
    guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
    return Span(milliseconds: Int64(clamping: microseconds / 1_000))
  }

  /// Reports that the start waits, perhaps for long, until recovery can begin. Call this every few
  /// seconds, so that systemd does not end the daemon after the unit's start timeout.
  package func waiting(_ line: String) {
    status(line)
    send("EXTEND_TIMEOUT_USEC=\(Self.starting.milliseconds * 1_000)")
  }

  /// The unit's start timeout. A start that waited gets this time once more, so its recovery has as
  /// much time as that of any other start.
  private static let starting = Span.seconds(300)

  /// Reports that recovery or a reload is over and that the daemon serves.
  package func ready() { send("READY=1") }

  /// Reports one line for people, shown by `systemctl status`; an unchanged line is not sent again.
  package func status(_ line: String) {
    let line = String(line.map { $0.isNewline ? " " : $0 })
    let isNews = lastStatus.withLock { last in
      defer { last = line }
      return last != line
    }
    if isNews { send("STATUS=\(line)") }
  }

  /// Reports a turn of the engine's loop. The call is cheap enough for every turn, because most
  /// calls send nothing.
  package func beat() {
    guard let beatGap else { return }
    let now = clock.boot().milliseconds
    let last = lastBeat.load(ordering: .relaxed)
    guard last == .min || now - last >= beatGap else { return }
    let (isOurs, _) = lastBeat.compareExchange(expected: last, desired: now, ordering: .relaxed)
    if isOurs { send("WATCHDOG=1") }
  }

  /// Reports that the daemon reads its settings again. Call ``ready()`` when the reload has
  /// succeeded or failed.
  package func reloading() {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    send("RELOADING=1\nMONOTONIC_USEC=\(microseconds)")
  }

  /// Reports that the daemon is stopping. systemd waits for the unit's stop timeout, or for the
  /// grace and `closing` together, whichever is longer.
  package func stopping(grace: Span) {
    let microseconds = (grace + Self.closing).milliseconds * 1_000
    send("STOPPING=1\nEXTEND_TIMEOUT_USEC=\(microseconds)")
  }

  /// The time after the grace: for folds under way, the last cut, and closing the store.
  private static let closing = Span.seconds(30)

  private func send(_ state: String) {
    guard isHeard else { return }
    // A failure is ignored deliberately: see the type's comment.
    _ = sd_notify(0, state)
  }
}

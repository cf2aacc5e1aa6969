import Logging
import RelayCore
import RelayEngine
import RelaySystem
import Synchronization

/// Tells systemd READY once recovery is over and every listener listens, and beats its watchdog
/// from the decision loop.
final class Readiness: Supervisor {
  private let notifier: SystemdNotifier
  private let missing: Mutex<Int>
  private let line: String
  private let logger: Logger

  /// - Parameter parts: what must be ready: the engine and each listener.
  init(notifier: SystemdNotifier, parts: Int, line: String, logger: Logger) {
    self.notifier = notifier
    missing = Mutex(parts)
    self.line = line
    self.logger = logger
  }

  func waiting(_ line: String) { notifier.waiting(line) }
  func ready() { partReady() }

  func partReady() {
    let isLast = missing.withLock {
      $0 -= 1
      return $0 == 0
    }
    guard isLast else { return }
    notifier.ready()
    notifier.status(line)
    logger.info("ready", metadata: ["status": "\(line)"])
  }

  /// A reload begins. One that comes before the daemon is ready says nothing: its end would sound
  /// like readiness.
  ///
  /// - Returns: true if systemd was told; then say `reloaded`.
  func reloading() -> Bool {
    guard missing.withLock({ $0 <= 0 }) else { return false }
    notifier.reloading()
    return true
  }

  func reloaded() { notifier.ready() }

  func status(_ line: String) { notifier.status(line) }
  func beat() { notifier.beat() }
  var beatEvery: Span { notifier.beatEvery }

  func stopping(grace: Span) {
    notifier.stopping(grace: grace)
    notifier.status("stopping: finishing what is in flight")
  }
}

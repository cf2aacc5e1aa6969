import Logging
import RelayCore
import RelayEngine
import RelaySystem
import Synchronization

/// Tells systemd READY once recovery is over and every listener accepts connections. The engine's
/// loop also sends the watchdog's beats through this object.
final class ServiceReadiness: ServiceNotifier {
  private let notifier: SystemdNotifier
  private let state: Mutex<State>
  private let logger: Logger

  /// How many parts are not ready yet, and the line that `systemctl status` shows once all are.
  private typealias State = (missing: Int, line: String)

  /// - Parameter parts: how many parts must be ready: the engine and each listener.
  init(notifier: SystemdNotifier, parts: Int, line: String, logger: Logger) {
    self.notifier = notifier
    state = Mutex((parts, line))
    self.logger = logger
  }

  func waiting(_ line: String) { notifier.waiting(line) }

  /// Reports that one part is ready.
  func ready() {
    let lastLine = state.withLock { state in
      state.missing -= 1
      return state.missing == 0 ? state.line : nil
    }
    guard let line = lastLine else { return }
    notifier.ready()
    notifier.status(line)
    logger.info("ready", metadata: ["status": "\(line)"])
  }

  /// Reports that a reload begins. Before the daemon is ready, systemd gets no report of a reload,
  /// because the end of the reload would look like readiness.
  ///
  /// - Returns: true if systemd got the report; the caller must then call `reloaded`.
  func reloading() -> Bool {
    guard state.withLock({ $0.missing <= 0 }) else { return false }
    notifier.reloading()
    return true
  }

  func reloaded() { notifier.ready() }

  /// Sends the line to systemd. Before the daemon is ready the line is kept, and sent with READY.
  func status(_ line: String) {
    let isReady = state.withLock { state in
      state.line = line
      return state.missing <= 0
    }
    if isReady { notifier.status(line) }
  }

  func beat() { notifier.beat() }
  var beatEvery: Span { notifier.beatEvery }

  func stopping(grace: Span) {
    notifier.stopping(grace: grace)
    notifier.status("stopping: finishing what is in flight")
  }
}

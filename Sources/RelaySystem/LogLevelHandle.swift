package import Logging
import Synchronization

/// The log level of the whole daemon; it can be changed while the daemon runs (SIGHUP).
package final class LogLevelHandle: Sendable {
  private let current: Mutex<Logger.Level>

  package init(_ level: Logger.Level = .info) { current = Mutex(level) }

  package var level: Logger.Level {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }
}

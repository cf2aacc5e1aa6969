import Logging
import RelayHTTP
import RelaySystem
import ServiceLifecycle
import UnixSignals

/// SIGHUP: users, producers, API tokens and the log level are read anew without dropping a
/// connection. Everything else needs a restart, and a bad file keeps what was and says so.
struct Reload: Service {
  let book: ScopeBook
  let dial: LogDial
  let notifier: SystemdNotifier
  let rereading: @Sendable () throws -> Settings
  let logger: Logger

  func run() async throws {
    for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
      notifier.reloading()
      do {
        let settings = try rereading()
        await book.replace(with: settings.access)
        dial.level = Logger.Level(settings.log.level)
        logger.info("reloaded users, producers, API tokens and the log level")
      } catch {
        logger.error("the configuration is bad; the old one stays", metadata: ["error": "\(error)"])
      }
      notifier.ready()
    }
  }
}

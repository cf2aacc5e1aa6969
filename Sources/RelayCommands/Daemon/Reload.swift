import Logging
import RelayHTTP
import RelaySystem
import ServiceLifecycle
import UnixSignals

/// SIGHUP: users, producers and API tokens are read anew without dropping a connection. Everything
/// else needs a restart, and a bad file keeps what was and says so.
struct Reload: Service {
  let book: ScopeBook
  let notifier: SystemdNotifier
  let rereading: @Sendable () throws -> Settings
  let logger: Logger

  func run() async throws {
    for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
      notifier.reloading()
      do {
        let settings = try rereading()
        await book.replace(with: settings.access)
        logger.info("reloaded users, producers and API tokens")
      } catch {
        logger.error("the configuration is bad; the old one stays", metadata: ["error": "\(error)"])
      }
      notifier.ready()
    }
  }
}

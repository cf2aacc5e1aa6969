import Foundation
import Logging
import NIOPosix
import RelayCore
import RelayEngine
import RelayHTTP
import RelayKeys
import RelayStore
import RelaySystem
import ServiceLifecycle
import UnixSignals

/// The composition root: builds every part with its slice of the settings, from the store inward to
/// the doors, and runs them until told to stop. Parts stop in the reverse of the order they stand
/// in: first the doors, last the engine.
enum Daemon {
  /// Serves until SIGTERM or SIGINT, then drains.
  ///
  /// - Parameter hangups: SIGHUP, trapped before `settings` were read.
  /// - Throws: `Failure` with its remedy, or what made it impossible to go on.
  static func run(
    _ settings: Settings, rereading: @escaping @Sendable () throws -> Settings,
    hangups: UnixSignalsSequence
  ) async throws {
    // First of all: it changes the environment, while no other thread reads it.
    let sockets = try ListenSockets.inherited().only("api")
    let (logger, dial) = Logs.start(settings.log)
    raiseLimits(settings, logger)
    let clock = SystemClock()
    let readiness = Readiness(
      notifier: SystemdNotifier(), parts: settings.parts, line: settings.readyLine, logger: logger)
    let (store, keys) = try await open(settings, readiness, logger)
    var providers = Providers(
      group: MultiThreadedEventLoopGroup.singleton, clock: clock, logger: logger)
    let senders = try await providers.adopt(settings).started
    let isKeyLost = keys.hasMadeOwn && !store.isNew
    let troubles = troubles(of: settings, isKeyLost: isKeyLost, at: clock.wall(), logger)
    let shelf = KeyShelf(
      source: AccountServer(), clock: clock, troubles: troubles, logger: logger)
    let http = settings.httpSlice(listen: sockets, keys: shelf)
    let courier = Courier(limits: http.limits, clock: clock)
    let feedback = FeedbackParts(
      settings, store: store, keys: keys, clock: clock, troubles: troubles, logger: logger)
    let engine = Engine(
      store: store,
      outside: Engine.Outside(
        clock: clock, keys: keys, senders: senders, courier: courier, feedback: feedback.webhooks,
        supervisor: readiness, random: { UInt64.random(in: 1...UInt64.max) }),
      settings: settings.engineSlice, logger: logger)
    let book = await ScopeBook(http.scopes, keys: keys, limits: http.limits)
    let reads = StoreReads(clock: clock, logger: logger)
    let doors = Doors(
      relay: engine, reader: store, reads: reads, keys: keys, clock: clock, access: book,
      courier: courier, settings: http)
    let connections = Connections(http.limits)
    let desk = ControlDesk(
      relay: engine, reader: store, reads: reads, keys: keys, clock: clock, access: book,
      troubles: troubles, process: { OwnProcess.vitals(with: connections) },
      feedback: feedback.desk, settings: http)
    let control = ControlServer(
      desk: desk, settings: http, clock: clock, logger: logger,
      onListening: { _ in readiness.partReady() },
      onMetricsListening: { _ in readiness.partReady() })
    let api = try APIServer(
      doors: doors, settings: http, clock: clock, connections: connections, logger: logger,
      onListening: { _ in readiness.partReady() })
    let reload = Reload(
      started: settings, providers: providers, engine: engine, shelf: shelf,
      webhooks: feedback.webhooks, book: book, courier: courier, dial: dial, clock: clock,
      troubles: troubles, certificate: api.certificate, readiness: readiness, rereading: rereading,
      hangups: hangups, logger: logger)
    let group = ServiceGroup(
      configuration: lifecycle(
        of: [EngineService(engine: engine), feedback.webhooks, shelf, reload, control, api],
        logger))
    logger.info("starting", metadata: settings.startingMetadata)
    try await group.run()
    await store.close()
    logger.info("stopped")
  }

  /// What is wrong from the start, if anything.
  private static func troubles(
    of settings: Settings, isKeyLost: Bool, at now: Instant, _ logger: Logger
  ) -> Troubles {
    let troubles = Troubles()
    troubles.tell(certificatesOf: settings, at: now, logger)
    if isKeyLost { troubles.tell(lostKeyOf: settings.store.directory, logger) }
    return troubles
  }

  /// Opens the store, as soon as its disk has room for what SQLite keeps beside an open file. Until
  /// then no door is open: without a store nothing could be answered behind it.
  private static func open(
    _ settings: Settings, _ supervisor: any Supervisor, _ logger: Logger
  ) async throws -> (SQLiteStore, KeyRing) {
    var isTold = false
    while true {
      do {
        let store = try SQLiteStore(settings.storeSlice)
        let keys = try KeyRing(
          storeDirectory: settings.store.directory, listed: settings.server.tokenKeys.map(\.path))
        return (store, keys)
      } catch let error as StoreError {
        guard error.code == .full else { throw error }
        if !isTold { logger.error("start waits", metadata: ["error": "\(error)"]) }
        isTold = true
        supervisor.waiting("the start waits for its store: \(error.message)")
      }
      try await Task.sleep(for: .seconds(1))
    }
  }

  /// A part that fails, as a listener whose port is taken, stops the others as SIGTERM does.
  /// Without the engine nothing can be finished: if it fails they end at once.
  private static func lifecycle(
    of parts: [any Service], _ logger: Logger
  ) -> ServiceGroupConfiguration {
    ServiceGroupConfiguration(
      services: parts.map {
        .init(
          service: $0,
          failureTerminationBehavior:
            $0 is EngineService ? .cancelGroup : .gracefullyShutdownGroup)
      },
      gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
  }

  private static func raiseLimits(_ settings: Settings, _ logger: Logger) {
    Priority.serving.give(to: .singleton)
    let files = FileLimit.raise()
    guard let misfit = settings.misfit(files: files) else { return }
    logger.warning(
      "too few files may be open", metadata: ["files": "\(files)", "reason": "\(misfit)"])
  }
}

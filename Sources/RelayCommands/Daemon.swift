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

/// The composition root: builds every part with its slice of the settings, from the store to the
/// listeners, and runs the parts until a signal ends the daemon. Parts stop in reverse order: first
/// the listeners, last the engine.
enum Daemon {
  /// Serves until SIGTERM or SIGINT, then drains.
  ///
  /// - Parameter hangups: the SIGHUP signals, trapped before `settings` were read.
  /// - Throws: `Failure` with its remedy, or the error that ended a part.
  static func run(
    _ settings: Settings, rereading: @escaping @Sendable () throws -> Settings,
    hangups: UnixSignalsSequence
  ) async throws {
    // Do this before any thread starts: the call changes the environment, which threads may read.
    let sockets = try ListenSockets.inherited().only("api")
    let (logger, levelHandle) = Logs.start(settings.log)
    raiseLimits(settings, logger)
    let clock = SystemClock()
    let readiness = ServiceReadiness(
      notifier: SystemdNotifier(), parts: settings.parts, line: settings.readyLine, logger: logger)
    let (store, keys) = try await open(settings, readiness, logger)
    var providers = Providers(
      group: MultiThreadedEventLoopGroup.singleton, clock: clock, logger: logger)
    let senders = try await providers.reconfigure(settings).started
    let isKeyLost = keys.hasMadeOwn && !store.isNew
    let issues = issues(of: settings, isKeyLost: isKeyLost, at: clock.wall(), logger)
    let keySets = JWKSCache(
      source: AccountServer(), clock: clock, issues: issues, logger: logger)
    let http = settings.httpSlice(listen: sockets, keys: keySets)
    let courier = Courier(limits: http.limits, clock: clock)
    let feedback = FeedbackParts(
      settings, store: store, keys: keys, clock: clock, issues: issues, logger: logger)
    let trace = TraceParts(settings, keys: keys, clock: clock, logger: logger)
    let engine = Engine(
      store: store,
      dependencies: Engine.Dependencies(
        clock: clock, keys: keys, senders: senders, courier: courier, feedback: feedback.webhooks,
        trace: trace.feed, notifier: readiness, random: { UInt64.random(in: 1...UInt64.max) }),
      settings: settings.engineSlice, logger: logger)
    let registry = await ScopeRegistry(http.scopes, keys: keys, limits: http.limits)
    let reads = StoreReads(clock: clock, logger: logger)
    let api = API(
      relay: engine, reader: store, reads: reads, keys: keys, clock: clock, access: registry,
      courier: courier, settings: http)
    let connections = Connections(http.limits)
    let admin = AdminAPI(
      relay: engine, reader: store, reads: reads, keys: keys, clock: clock, access: registry,
      issues: issues, process: { OwnProcess.usage(apiConnections: connections.count) },
      feedback: feedback.admin, trace: trace.admin, settings: http)
    let control = ControlServer(
      admin: admin, settings: http, clock: clock,
      onListening: { _ in readiness.ready() },
      onMetricsListening: { _ in readiness.ready() })
    let server = try APIServer(
      api: api, settings: http, clock: clock, connections: connections,
      onListening: { _ in readiness.ready() })
    let reload = Reload(
      started: settings, providers: providers, engine: engine, keySets: keySets,
      webhooks: feedback.webhooks, registry: registry, courier: courier, levelHandle: levelHandle,
      clock: clock, issues: issues, certificate: server.certificate, readiness: readiness,
      rereading: rereading, hangups: hangups, logger: logger)
    let group = ServiceGroup(
      configuration: lifecycle(
        of: [EngineService(engine: engine), feedback.webhooks, keySets, reload, control, server],
        logger))
    logger.info("starting", metadata: settings.startingMetadata)
    try await group.run()
    await end(store, trace, logger)
  }

  private static func end(_ store: SQLiteStore, _ trace: TraceParts, _ logger: Logger) async {
    await trace.close()
    await store.close()
    logger.info("stopped")
  }

  /// Reports the problems that are known at start.
  private static func issues(
    of settings: Settings, isKeyLost: Bool, at now: Instant, _ logger: Logger
  ) -> HealthIssues {
    let issues = HealthIssues()
    issues.tell(certificatesOf: settings, at: now, logger)
    if isKeyLost { issues.tell(lostKeyOf: settings.store.directory, logger) }
    return issues
  }

  /// Opens the store as soon as its disk has room for the files that SQLite keeps beside an open
  /// database. Until then no listener is open: without a store the daemon could answer nothing.
  private static func open(
    _ settings: Settings, _ notifier: any ServiceNotifier, _ logger: Logger
  ) async throws -> (SQLiteStore, KeyRing) {
    var isTold = false
    while true {
      do {
        let store = try SQLiteStore(settings.storeSlice)
        let keys = try KeyRing(
          storeDirectory: settings.store.directory, listed: settings.server.tokenKeys.map(\.path))
        try store.claim(identity: keys.identityCheck, isNew: keys.hasMadeOwn)
        try keys.keepOwn()
        return (store, keys)
      } catch let error as StoreError {
        guard error.code == .full else { throw error }
        if !isTold { logger.error("start waits", metadata: ["error": "\(error)"]) }
        isTold = true
        notifier.waiting("the start waits for its store: \(error.message)")
      }
      try await Task.sleep(for: .seconds(1))
    }
  }

  /// A part that fails, such as a listener whose port is taken, stops the others as SIGTERM does.
  /// Without the engine no part can finish its work: if the engine fails, all parts end at once.
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

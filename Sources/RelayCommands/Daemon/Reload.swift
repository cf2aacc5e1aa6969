import Logging
import RelayEngine
import RelayFeedback
import RelayHTTP
import RelaySystem
import ServiceLifecycle
import UnixSignals

/// Reloads on SIGHUP: containers with their users, producers, API tokens, routes and credentials,
/// the wake policy, retention, the API's TLS files and the log level. No connection is dropped. A
/// warning names settings that need a restart. A bad file changes nothing, and `status` reports the
/// failed reload until a good file is loaded.
struct Reload: Service {
  /// The settings of the start. Settings that need a restart keep these values.
  let started: Settings
  let providers: Providers
  let engine: Engine
  let keySets: JWKSCache
  let webhooks: Webhooks
  let registry: ScopeRegistry
  let courier: Courier
  let levelHandle: LogLevelHandle
  let clock: any ClockReader
  let issues: HealthIssues
  /// The API's TLS certificate. `nil` means that the API uses plain HTTP until a restart.
  let certificate: ServerCertificate?
  let readiness: ServiceReadiness
  let rereading: @Sendable () throws -> Settings
  /// The SIGHUP signals, trapped before the settings were read for the first time: a signal that
  /// arrives during the start is handled after it.
  let hangups: UnixSignalsSequence
  let logger: Logger

  func run() async throws {
    var providers = providers
    for await _ in hangups.cancelOnGracefulShutdown() {
      guard await hasBegun() else { return }
      let isTold = readiness.reloading()
      await reload(&providers)
      if isTold { readiness.reloaded() }
    }
  }

  /// Waits until the engine takes reloads: a start may wait for its store for long.
  ///
  /// - Returns: false if the daemon is told to stop meanwhile.
  private func hasBegun() async -> Bool {
    await cancelWhenGracefulShutdown {
      while ![.ready, .draining, .stopping].contains(engine.readiness) {
        do { try await Task.sleep(for: .milliseconds(100)) } catch { return false }
      }
      return true
    }
  }

  private static let trouble = "reload"

  private func reload(_ providers: inout Providers) async {
    do {
      let settings = try rereading()
      try await take(settings, &providers)
      levelHandle.level = settings.log.level
      issues.settle(Self.trouble)
      issues.tell(certificatesOf: settings, at: clock.wall(), logger)
      // A reload does not end a drain.
      let drain = engine.readiness == .draining ? engine.readiness.reasons.first : nil
      readiness.status(drain ?? settings.readyLine)
      logger.info("reloaded", metadata: ["environments": "\(settings.apps.count)"])
      let fixed = started.keysFixed(against: settings)
      guard !fixed.isEmpty else { return }
      logger.warning(
        "some settings take effect at the next restart",
        metadata: ["keys": "\(fixed.joined(separator: ", "))"])
    } catch {
      logger.error("the configuration is bad; the old one stays", metadata: ["error": "\(error)"])
      issues.tell(
        Self.trouble,
        "the last reload found a bad configuration, and the old one stays: \(Self.brief(error)); "
          + "run `zonerelay check`, correct it and reload again")
      readiness.status("the last reload failed, the old configuration stays")
    }
  }

  /// Changes the routes before the access, so that the routes of a client exist when the client
  /// gains access.
  private func take(_ settings: Settings, _ providers: inout Providers) async throws {
    // Everything that can fail comes before the first change.
    let pair = try settings.server.tls.map { try ServerCertificate.Pair($0) }
    let changes = try await providers.reconfigure(settings)
    await engine.reconfigure(
      EngineReconfiguration(
        settings: settings.engineSlice, started: changes.started, ended: changes.ended))
    let access = settings.access(keys: keySets)
    await registry.replace(with: access)
    courier.keep { access[$0] != nil }
    keySets.keep(settings.keySetAddresses)
    webhooks.reconfigure(settings.webhooks)
    if let pair { certificate?.replace(with: pair) }
  }

  /// The first problem; `check` shows all of them.
  private static func brief(_ error: any Error) -> String {
    guard let bad = error as? BadConfiguration, let first = bad.problems.first else {
      return "\(error)"
    }
    let more = bad.problems.count - 1
    return more > 0 ? "\(first.text) (and \(more) more)" : first.text
  }
}

extension Settings {
  /// Keys that have changed at a reload but take effect only after a restart.
  func keysFixed(against new: Settings) -> [String] {
    var keys: [String] = []
    func compare<Value: Equatable>(_ key: String, _ value: (Settings) -> Value) {
      if value(self) != value(new) { keys.append(key) }
    }
    compare("server.listen") { "\($0.server.listen)" }
    compare("server.publicURL") { $0.server.publicURL }
    compare("server.tokenKeys") { $0.server.tokenKeys.map(\.bytes) }
    // A reload reads the files again; whether TLS is on is decided at start.
    compare("server.tls") { $0.server.tls == nil }
    compare("control.socket") { $0.control.socket }
    compare("control.metrics") { $0.control.metrics.map { "\($0)" } }
    compare("store.directory") { $0.store.directory }
    compare("trace.size") { $0.trace.bytes }
    compare("log.format") { $0.log.format }
    for (old, new) in zip(bounds, new.bounds) where old.value != new.value {
      keys.append("limits.\(old.name)")
    }
    return keys
  }

  /// Every limit with its value as text. The name of a limit is the name of its property, which
  /// equals its key in the configuration.
  var bounds: [(name: String, value: String)] {
    [Mirror(reflecting: limits), Mirror(reflecting: requests)].flatMap(\.children)
      .map { (name: $0.label ?? "", value: "\($0.value)") }
  }
}

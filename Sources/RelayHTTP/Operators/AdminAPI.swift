package import RelayCore
package import RelayEngine
import Glibc
import RelayWire

/// Everything that operators can read and do over the control listener and the metrics listener.
package struct AdminAPI: Sendable {
  let relay: any RelayService
  let reader: any FeedReader
  let reads: StoreReads
  let keys: any TokenKeys
  let clock: any ClockReader
  let access: ScopeRegistry
  let issues: HealthIssues
  let process: @Sendable () -> ProcessUsage
  let feedback: Feedback
  let trace: Trace?
  let limits: HTTPLimits
  let version: String

  /// - Parameters:
  ///   - process: reads the daemon's use of memory, CPU time and descriptors; called at each
  ///     scrape.
  ///   - feedback: the feedback for the apps' own servers.
  ///   - trace: what explanations are made of; `nil` means that there are none.
  package init(
    relay: any RelayService, reader: any FeedReader, reads: StoreReads, keys: any TokenKeys,
    clock: any ClockReader, access: ScopeRegistry, issues: HealthIssues = HealthIssues(),
    process: @escaping @Sendable () -> ProcessUsage = { ProcessUsage() },
    feedback: Feedback = .none, trace: Trace? = nil,
    settings: HTTPSettings
  ) {
    self.relay = relay
    self.reader = reader
    self.reads = reads
    self.keys = keys
    self.clock = clock
    self.access = access
    self.issues = issues
    self.process = process
    self.feedback = feedback
    self.trace = trace
    limits = settings.limits
    version = settings.version
  }

  func status() async -> StatusReport {
    StatusReport(await health(), version: version, pid: getpid())
  }

  /// The engine's health, and the problems outside the engine.
  func health() async -> HealthSnapshot {
    var health = await relay.health()
    health.reasons += reads.reasons + issues.reasons
    health.store.failedReads = reads.failures
    health.webhooks = feedback.webhooks()
    return health
  }

  /// Unregisters every registration of this installation.
  ///
  /// - Returns: how many registrations there were.
  func forget(_ client: ClientID) async throws -> Int {
    let keys = try await rows(of: client).map(\.key)
    guard !keys.isEmpty else { return 0 }
    do throws(Unavailable) {
      _ = try await relay.submit(
        keys.map {
          .unregister(Unregistration(scope: $0.scope, user: $0.user, device: .client(client)))
        })
    } catch {
      throw WireError(error)
    }
    return keys.count
  }

  func rows(of client: ClientID) async throws -> [DeviceRow] {
    do throws(StoreError) {
      return try await reader.devices(client: client)
    } catch {
      reads.failed(error)
      throw WireError(error)
    }
  }

  /// The registrations of a user, of an installation, or of all users, as the store has them.
  func devices(user: String?, client: ClientID?) async throws -> DevicesReport {
    do throws(StoreError) {
      var rows: [DeviceRow]
      if let client {
        rows = try await reader.devices(client: client)
        if let user { rows.removeAll { $0.key.user.name != user } }
      } else {
        rows = try await reader.devices(
          of: user.map { UserID($0) }, in: nil, limit: limits.devicesListed + 1)
      }
      let now = clock.wall()
      let listed = rows.prefix(limits.devicesListed)
      return DevicesReport(
        devices: listed.map { DeviceReport($0, at: now, keys: keys) },
        moreComing: rows.count > listed.count ? true : nil)
    } catch {
      reads.failed(error)
      throw WireError(error)
    }
  }
}

package import Logging
package import RelayCore
package import RelayEngine
import ServiceLifecycle
import Synchronization

/// Fetches key sets. The daemon's source uses HTTPS; in tests, the source returns answers that the
/// test sets.
package protocol KeySetSource: Sendable {
  /// - Throws: `KeySetFailure` if there is no answer, or if the answer has no readable body.
  func fetch(_ address: KeySetAddress) async throws(KeySetFailure) -> FetchedKeySet
}

package struct FetchedKeySet: Hashable, Sendable {
  package var bytes: [UInt8]
  /// How long the answer may be kept; `nil` means that the answer states no time.
  package var maxAge: Span?

  package init(bytes: [UInt8], maxAge: Span? = nil) {
    self.bytes = bytes
    self.maxAge = maxAge
  }
}

package struct KeySetFailure: Error, Hashable, Sendable {
  package var reason: String
  package init(_ reason: String) { self.reason = reason }
}

/// All key sets that come from URLs: one for each `KeySetAddress`, however many environments use
/// the address. The cache fetches each set at start and whenever the set is due (`KeySchedule`). If
/// a fetch fails, the present keys stay in use; the failure is logged and appears in `status` until
/// a fetch succeeds.
package final class JWKSCache: Service {
  private let source: any KeySetSource
  private let clock: any ClockReader
  private let issues: HealthIssues
  private let logger: Logger
  private let sets = Mutex<[KeySetAddress: RemoteKeys]>([:])
  private let pokes: AsyncStream<Void>
  private let poke: AsyncStream<Void>.Continuation

  package init(
    source: any KeySetSource, clock: any ClockReader, issues: HealthIssues, logger: Logger
  ) {
    (self.source, self.clock, self.issues, self.logger) = (source, clock, issues, logger)
    // The stream buffers one element, which is enough: `serve` checks all sets for each element.
    (pokes, poke) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// The keys behind a URL. If the URL is new, the cache fetches its keys from now on.
  package func keys(at address: KeySetAddress) -> RemoteKeys {
    let keys = sets.withLock { sets in
      if let known = sets[address] { return known }
      let keys = RemoteKeys(
        address, clock: { [clock] in clock.boot() }, poke: { [poke] in poke.yield() })
      sets[address] = keys
      return keys
    }
    poke.yield()
    return keys
  }

  /// Stops fetching all key sets except those at `addresses`. Called after a reload of the
  /// configuration.
  package func keep(_ addresses: Set<KeySetAddress>) {
    let gone = sets.withLock { sets in
      let gone = sets.values.filter { !addresses.contains($0.address) }
      for keys in gone {
        sets[keys.address] = nil
        issues.settle(Self.trouble(keys.address))
      }
      return gone
    }
    for keys in gone { keys.close() }
  }

  /// How often the cache looks for sets that are due.
  private static let tick = Duration.seconds(1)

  package func run() async {
    await cancelWhenGracefulShutdown { await self.serve() }
    for keys in sets.withLock({ Array($0.values) }) { keys.close() }
  }

  private func serve() async {
    await withDiscardingTaskGroup { group in
      group.addTask { [poke] in
        while !Task.isCancelled {
          poke.yield()
          // The sleep fails only if the task is cancelled, and then the loop ends.
          try? await Task.sleep(for: Self.tick)
        }
      }
      for await _ in pokes {
        for keys in sets.withLock({ Array($0.values) }) where keys.begin() {
          group.addTask { await self.fetch(keys) }
        }
      }
      group.cancelAll()
    }
  }

  private func fetch(_ keys: RemoteKeys) async {
    let address = keys.address
    do throws(KeySetFailure) {
      let answer = try await source.fetch(address)
      let set = try Self.read(answer.bytes)
      let isNews = await keys.arrived(set, maxAge: answer.maxAge)
      guard note(nil, of: keys) else { return }
      if isNews { tell(set, of: address) }
    } catch {
      tell(error.reason, of: keys, age: keys.failed())
    }
  }

  /// Notes the outcome of a fetch for `status`, with the same lock as `keep`. If a reload has
  /// dropped the set since the fetch began, the outcome is ignored.
  ///
  /// - Parameter trouble: what is wrong; `nil` means that the fetch succeeded.
  /// - Returns: false if the set was dropped.
  private func note(_ trouble: String?, of keys: RemoteKeys) -> Bool {
    sets.withLock { sets in
      guard sets[keys.address] == keys else { return false }
      let name = Self.trouble(keys.address)
      if let trouble { issues.tell(name, trouble) } else { issues.settle(name) }
      return true
    }
  }

  private static func read(_ bytes: [UInt8]) throws(KeySetFailure) -> KeySet {
    let set: KeySet
    do throws(KeySet.Unreadable) {
      set = try KeySet(bytes)
    } catch {
      throw KeySetFailure("the answer \(error.reason)")
    }
    guard set.keys.isEmpty else { return set }
    let why = set.problems.isEmpty ? "" : ": \(set.problems.joined(separator: "; "))"
    throw KeySetFailure("it lists no key for ES256, RS256 or EdDSA\(why)")
  }

  private func tell(_ set: KeySet, of address: KeySetAddress) {
    var metadata: Logger.Metadata = ["url": "\(address.place)", "keys": "\(set.keys.count)"]
    logger.info("users' keys fetched", metadata: metadata)
    guard !set.problems.isEmpty else { return }
    metadata["problems"] = "\(set.problems.joined(separator: "; "))"
    logger.warning("some of the users' keys are unusable", metadata: metadata)
  }

  private func tell(_ reason: String, of keys: RemoteKeys, age: Span?) {
    let url = keys.address.place
    let rest =
      age.map { "those fetched \($0.milliseconds / 1_000) s ago stay in use" }
      ?? "until then no user of these environments gets in"
    let text =
      "the keys of users at \(url) cannot be fetched: \(reason); \(rest); check the URL "
      + "and the server behind it"
    guard note(text, of: keys) else { return }
    logger.warning(
      "users' keys could not be fetched", metadata: ["url": "\(url)", "error": "\(reason)"])
  }

  private static func trouble(_ address: KeySetAddress) -> String {
    "jwks \(address.url) \(address.trustRoots ?? "")"
  }
}

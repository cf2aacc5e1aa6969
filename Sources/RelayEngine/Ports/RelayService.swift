package import RelayCore

/// The relay as its callers see it: HTTP, the control socket, later sources.
///
/// Implemented by the engine, and by a small working relay in tests of HTTP.
package protocol RelayService: Sendable {
  /// Takes facts in, in their order, and returns their answers in the same order once each is
  /// durable, stepped and as far along as its kind demands (a revocation holds everywhere).
  ///
  /// The facts of one call for one partition become durable together, and what they change becomes
  /// visible together. Those of one submitter keep their order; submitters take turns.
  ///
  /// - Throws: `Unavailable` if nothing of them was taken, or if nobody knows in time whether all
  ///   of them were: say when to come again. The same facts may be submitted again; repeated
  ///   changes answer `.duplicate`.
  func submit(_ facts: [Fact], by submitter: Submitter) async throws(Unavailable) -> [Answer]

  /// Which of these changes were taken before, in the order given: submitted again, they would
  /// answer `.duplicate`.
  ///
  /// - Throws: `Unavailable` before the end of recovery, and when the relay has stopped.
  func known(_ changes: [Change]) async throws(Unavailable) -> [Bool]

  /// Returns when every fact answered before this call is visible in all of `places` (P4). Returns
  /// at once, without entering the loop, if nothing unfolded concerns them.
  ///
  /// - Parameter until: on the boot clock; none waits longer than the relay has a request wait.
  /// - Throws: `Unavailable` when too many readers wait, during recovery, when the store refuses to
  ///   fold, and when a fold takes too long.
  func visible(_ places: [ReadTarget], until: Instant) async throws(Unavailable)

  /// A device has been fully served a page, or presented a token. Takes no ordinal and is not
  /// waited for; losing it costs at most a repeated wake.
  func served(_ reading: Reading)

  /// The device has dealt with wake `wake` by its own means. Not waited for.
  func acknowledged(wake: UInt32, by device: DeviceKey)

  /// A device keeps a poll or a stream open at the courier. Not waited for.
  ///
  /// - Parameters:
  ///   - connection: tells it from the device's connections before and after.
  ///   - after: the number of the newest wake that the device says it has got.
  /// - Returns: false if too many come and go at once: end it, and say when to come again.
  func connected(_ device: DeviceKey, connection: UInt64, after: UInt32?) -> Bool

  /// It ended. Losing this costs one wake that finds nobody and goes to the provider.
  ///
  /// - Parameter isExpectedBack: it was a poll, and it was answered: the next should follow.
  func left(_ device: DeviceKey, connection: UInt64, isExpectedBack: Bool)

  /// The HTTP layer refused so many changes; they were never facts, but they are counted.
  func refused(changes: Int)

  /// For probes: never waits for the loop.
  var readiness: Readiness { get }

  /// What people and machines may know of the daemon's state.
  func health() async -> HealthSnapshot

  /// Stops taking facts; what is in flight ends. Idempotent.
  func drain()
}

extension RelayService {
  package func submit(_ facts: [Fact]) async throws(Unavailable) -> [Answer] {
    try await submit(facts, by: .relay)
  }

  /// Waits as long as the relay has a request wait.
  package func visible(_ place: ReadTarget) async throws(Unavailable) {
    try await visible([place], until: .never)
  }
}

/// A page that a device was served, or a token it presented: what it knows now.
package struct Reading: Hashable, Sendable {
  package enum Reached: Hashable, Sendable {
    case notifications(Position)
    case zone(ZoneID, Database, Position)
    /// A database page listed these zones.
    case listed([ZoneID], Database)
  }

  package var device: DeviceKey
  package var reached: Reached

  package init(device: DeviceKey, reached: Reached) {
    self.device = device
    self.reached = reached
  }
}

package import RelayCore

/// The relay as its callers, such as HTTP and the control socket, see it.
///
/// The engine implements this protocol, and so does a small working relay in tests of HTTP.
package protocol RelayService: Sendable {
  /// Takes facts in their order and returns their answers in the same order, once each fact is
  /// durable, stepped, and processed as far as its kind demands: for example, a revocation is then
  /// in force everywhere.
  ///
  /// The facts of one call for one partition become durable together, and their effects become
  /// visible together. The facts of one submitter keep their order; submitters take turns.
  ///
  /// - Throws: `Unavailable` if no fact was taken, or if it is not known in time whether all facts
  ///   were taken. The error says when to try again. The same facts may be submitted again;
  ///   repeated changes answer `.duplicate`.
  func submit(_ facts: [Fact], by submitter: Submitter) async throws(Unavailable) -> [Answer]

  /// Whether each of these changes, in the given order, was taken before and would be answered with
  /// `.duplicate` if it were submitted again.
  ///
  /// - Throws: `Unavailable` before the end of recovery, and when the relay has stopped.
  func known(_ changes: [Change]) async throws(Unavailable) -> [Bool]

  /// Returns when every fact answered before this call is visible in all of `places` (P4). Returns
  /// at once, without entering the loop, if nothing unfolded concerns these places.
  ///
  /// - Parameter until: the deadline on the boot clock; a caller never waits longer than the relay
  ///   lets a request wait.
  /// - Throws: `Unavailable` when too many readers wait, during recovery, when the store refuses to
  ///   fold, and when a fold takes too long.
  func visible(_ places: [ReadTarget], until: Instant) async throws(Unavailable)

  /// Notes that the device has received a whole page, or presented a token. The call journals
  /// nothing, and the caller does not wait; a lost call costs at most a repeated wake.
  func served(_ reading: Reading)

  /// Notes that the device has handled the wake with this number. The caller does not wait.
  func acknowledged(wake: UInt32, by device: DeviceKey)

  /// Notes that the device has opened a poll or a stream at the courier. The caller does not wait.
  ///
  /// - Parameters:
  ///   - connection: identifies this connection among all connections of the device.
  ///   - after: the number of the newest wake that the device says it has received.
  /// - Returns: false if too many connections open at once; the caller then ends this connection
  ///   and tells the client when to retry.
  func connected(_ device: DeviceKey, connection: UInt64, after: UInt32?) -> Bool

  /// Notes that the connection has ended. Every connection that `connected` took may end once; the
  /// call is never refused.
  ///
  /// - Parameter isExpectedBack: true if the connection was a poll that was answered, so that the
  ///   device's next poll should follow.
  func left(_ device: DeviceKey, connection: UInt64, isExpectedBack: Bool)

  /// Counts changes that the HTTP layer refused before they became facts.
  func refused(changes: Int)

  /// Whether the relay serves requests, for probes. The property does not wait for the loop.
  var readiness: Readiness { get }

  /// The daemon's state for people and monitoring.
  func health() async -> HealthSnapshot

  /// What the relay knows of each of these devices now, for explanations.
  ///
  /// - Parameters:
  ///   - devices: about a hundred at most, because the loop itself answers.
  ///   - zones: the result says which of these zones are shared with each device's user.
  /// - Throws: `Unavailable` before the end of recovery, and when the relay has stopped.
  func standings(
    of devices: [DeviceKey], zones: [ZoneID]
  ) async throws(Unavailable) -> Standings

  /// Refuses new facts from now on, and completes the work in flight. A repeated call does nothing.
  func drain()
}

extension RelayService {
  package func submit(_ facts: [Fact]) async throws(Unavailable) -> [Answer] {
    try await submit(facts, by: .relay)
  }
}

/// The standing of devices at one moment.
package struct Standings: Hashable, Sendable {
  package var devices: [Standing]
  /// How many entries the flight recorder had taken at the moment that `devices` describes.
  package var place: UInt64

  package init(devices: [Standing], place: UInt64) {
    (self.devices, self.place) = (devices, place)
  }
}

/// What a device has read: a page that it was served, or a token that it presented.
package struct Reading: Hashable, Sendable {
  package enum Reached: Hashable, Sendable {
    case notifications(Position)
    case zone(ZoneID, Database, Position)
    /// A database page listed these zones.
    case listed([ZoneID], Database)
  }

  package var device: DeviceKey
  package var reached: Reached
  package var proof: Acknowledged.Proof

  package init(device: DeviceKey, reached: Reached, proof: Acknowledged.Proof = .page) {
    (self.device, self.reached, self.proof) = (device, reached, proof)
  }
}

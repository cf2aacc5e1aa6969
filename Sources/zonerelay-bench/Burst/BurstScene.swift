import Foundation
import NIOCore

/// The user of the burst, with the user's devices and zones; and the record servers and clients
/// that call the daemon.
struct BurstScene {
  let daemon: MeasuredDaemon
  let shape: BurstShape
  private let token = MeasuredDaemon.userToken(user)
  static let user = "_burst"

  /// Creates the zones and records before the devices and the subscription, so that nothing is
  /// pushed.
  func prepare() async throws {
    var writer = EventWriter(run: "seed")
    let subjects = (0..<BurstShape.zones).flatMap { zone in
      (0..<BurstShape.recordsEach).map { Self.subject(zone: zone, record: $0) }
    }
    try await daemon.call(writer.batch(subjects)).expectAccepted(subjects.count)
    try await Enrolment.run(0..<1, on: daemon) { [token] _ in
      (0..<BurstShape.devices).map { Enrolment.device($0, token: token) }
        + [Enrolment.subscription(to: "private", token: token)]
    }
  }

  /// Posts the burst and returns how long the posting took, in seconds.
  func post(_ run: String) async throws -> Double {
    let exchange = try await daemon.connect(burst(run))
    let start = ContinuousClock.now
    try await exchange.run(within: .seconds(60))
    return (ContinuousClock.now - start).inSeconds
  }

  struct Observed {
    /// Latencies of single events.
    var probes = Latencies()
    var pages = Latencies()
  }

  /// Posts single events at a steady rate, beside readers and, if `run` is set, another burst.
  /// Takes as long as the burst, or three seconds without a burst.
  func observe(readers: Int, burst run: String?) async throws -> Observed {
    let length = run == nil ? TimeAmount.seconds(3) : BurstShape.length
    let probes = (0..<BurstShape.probes).map {
      probe($0, run: "\(run ?? "calm")-\(readers)-\($0)", length: length)
    }
    let readers = (0..<readers).map { Reader($0, token: token, length: length) }
    try await daemon.serve(
      readers + probes + (run.map { self.burst($0) } ?? []), within: .seconds(60))
    var observed = Observed()
    for probe in probes { observed.probes.add(probe.latencies) }
    for reader in readers { observed.pages.add(reader.latencies) }
    return observed
  }

  /// Posts single events of users without devices at a steady rate.
  private func probe(_ number: Int, run: String, length: TimeAmount) -> PacedProducer {
    let pace = BurstShape.probePace.nanoseconds
    let offset = pace * Int64(number) / Int64(BurstShape.probes)
    let subjects = (0..<length.nanoseconds / pace).map {
      EventWriter.Subject(user: "_probe\($0 % 100)", zone: "Probe", record: "record-\($0 % 10)")
    }
    var writer = EventWriter(run: run)
    return PacedProducer(writer.requests(subjects, eventsEach: 1)) { sent, start in
      start + .nanoseconds(offset + pace * Int64(sent))
    }
  }

  /// Record servers that report one zone each: their requests are spread over the burst.
  private func burst(_ run: String) -> [any LoadCaller] {
    let gap = BurstShape.length.nanoseconds / Int64(max(1, shape.batchesEach - 1))
    return (0..<BurstShape.zones).map { zone in
      var writer = EventWriter(run: "\(run)-\(zone)")
      let requests = (0..<shape.batchesEach).map { _ in
        writer.batch(
          (0..<BurstShape.batch).map {
            Self.subject(zone: zone, record: $0 % BurstShape.recordsEach)
          })
      }
      return PacedProducer(requests, eventsEach: BurstShape.batch) { sent, start in
        start + .nanoseconds(gap * Int64(sent))
      }
    }
  }

  static func zoneName(_ zone: Int) -> String { "Zone\(zone)" }

  private static func subject(zone: Int, record: Int) -> EventWriter.Subject {
    EventWriter.Subject(user: user, zone: zoneName(zone), record: "record-\(record)")
  }
}

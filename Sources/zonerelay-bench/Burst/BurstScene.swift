import Foundation
import NIOCore

/// The user of the burst with devices and zones, and the callers that use them.
struct BurstScene {
  private let bench: Workbench
  private let daemon: MeasuredDaemon
  private let shape: BurstShape
  private let token: String
  static let user = "_burst"

  init(_ bench: Workbench, daemon: MeasuredDaemon, shape: BurstShape) {
    self.bench = bench
    self.daemon = daemon
    self.shape = shape
    token = MeasuredDaemon.userToken(Self.user)
  }

  /// Creates the zones and records before the devices and the subscription, so that nothing is
  /// pushed.
  func prepare() async throws {
    var writer = EventWriter(run: "seed")
    let subjects = (0..<BurstShape.zones).flatMap { zone in
      (0..<BurstShape.recordsEach).map { Self.subject(zone: zone, record: $0) }
    }
    try await call(writer.batch(subjects)).expectAccepted(subjects.count)
    for device in 0..<BurstShape.devices {
      try await post(
        "/device/1/\(MeasuredDaemon.scope)/tokens/register",
        #"{"apnsEnvironment":"development","apnsToken":""#
          + String(repeating: "a\(device)", count: 32)
          + #"","clientId":"6f1c2a34-0000-4000-8000-00000000000\#(device)"}"#)
    }
    let answer = try await post(
      "/database/1/\(MeasuredDaemon.scope)/private/subscriptions/modify",
      #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"all","#
        + #""subscriptionType":"database","#
        + #""notificationInfo":{"shouldSendContentAvailable":true}}}]}"#)
    guard !answer.text.contains("serverErrorCode") else {
      throw BenchError("no subscription: \(answer.text.prefix(500))")
    }
  }

  /// Posts the burst and returns how long the posting took, in seconds.
  func post(_ run: String) async throws -> Double {
    let callers = burst(run)
    let exchange = try await LoadExchange(callers, to: .port(daemon.port), group: bench.group)
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
    let probes = (0..<Probe.connections).map {
      Probe(run: "\(run ?? "calm")-\(readers)-\($0)", offset: $0, length: length)
    }
    let readers = (0..<readers).map { Reader($0, token: token, length: length) }
    let exchange = try await LoadExchange(
      readers + probes + (run.map { self.burst($0) } ?? []), to: .port(daemon.port),
      group: bench.group)
    try await exchange.run(within: .seconds(60))
    var observed = Observed()
    for probe in probes { observed.probes.add(probe.latencies) }
    for reader in readers { observed.pages.add(reader.latencies) }
    return observed
  }

  private func burst(_ run: String) -> [any LoadCaller] {
    (0..<BurstShape.zones).map { zone in
      var writer = EventWriter(run: "\(run)-\(zone)")
      let requests = (0..<shape.batchesEach).map { _ in
        writer.batch(
          (0..<BurstShape.batch).map {
            Self.subject(zone: zone, record: $0 % BurstShape.recordsEach)
          })
      }
      return BurstProducer(requests)
    }
  }

  static func zoneName(_ zone: Int) -> String { "Zone\(zone)" }

  private static func subject(zone: Int, record: Int) -> EventWriter.Subject {
    EventWriter.Subject(user: user, zone: zoneName(zone), record: "record-\(record)")
  }

  @discardableResult
  private func post(_ path: String, _ body: String) async throws -> LoadAnswer {
    let answer = try await call(RequestText.post(path, token: token, body: body.utf8))
    guard answer.status == 200 else {
      throw BenchError("\(path) was answered with \(answer.status): \(answer.text.prefix(500))")
    }
    return answer
  }

  private func call(_ request: ByteBuffer) async throws -> LoadAnswer {
    try await LoadExchange.call(request, to: .port(daemon.port), group: bench.group)
  }
}

import Crypto
import Foundation
import Logging
import NIOCore
import NIOPosix
import RelayCore
import RelayPush

/// zonerelay's side of the push figures: the APNs sender with the daemon's settings, 2 connections
/// of up to 500 streams, and at most 1,000 pushes in flight.
struct EngineLoad {
  private let bench: Workbench
  private let sink: Sink
  private let key: APNsSettings.Key
  static let inFlightMax = 1_000

  init(_ bench: Workbench, sink: Sink) throws {
    self.bench = bench
    self.sink = sink
    key = try APNsSettings.Key(
      pem: P256.Signing.PrivateKey().pemRepresentation, keyID: "ABCDE12345", teamID: "TEAM123456")
  }

  /// Sends `count` pushes over new connections. Throws if a push is lost or refused.
  func run(_ count: Int) async throws -> PushBench.Result {
    let settings = try APNsSettings(
      .init(host: "localhost", port: sink.port), topic: PushWork.topic, credential: .key(key),
      trustRoots: sink.certificate)
    let (before, sinkBefore) = (try CPUTime.ofThisProcess(), try sink.child.cpu())
    let start = ContinuousClock.now
    let sender = try APNsSender(
      settings, credential: try await APNsCredential(key), group: bench.group,
      logger: Logger(label: "bench"), now: Self.now)
    let batch = PushBatch(sender, count: count, loop: bench.group.next())
    let end = try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await sender.run() }
      group.addTask { try await batch.fire(within: .seconds(120)) }
      defer { group.cancelAll() }
      // The sender runs until it is cancelled, so the batch ends first.
      try await group.next()
      return ContinuousClock.now
    }
    let client = try CPUTime.ofThisProcess() - before
    let sinkCPU = try sink.child.cpu() - sinkBefore
    try batch.check(sender.status)
    return PushBench.Result(
      rate: Double(count) / (end - start).inSeconds, client: client.each(of: count),
      sink: sinkCPU.each(of: count))
  }

  @Sendable private static func now() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }
}

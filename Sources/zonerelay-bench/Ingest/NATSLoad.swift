import Foundation
import NIOCore
import NIOPosix

/// The reference for goal S5 (docs/performance.md): NATS JetStream with a file stream in its
/// default mode, which answers before it syncs. The messages have 200 bytes, and 512 of them are
/// unacknowledged at a time.
struct NATSLoad {
  static let name = "NATS JetStream"
  static let missing =
    "nats-server is not installed (package nats-server); the published figure stands in"
  /// The published rate, in messages a second, on a machine of this kind.
  static let publishedRate = 103_000.0
  private let bench: Workbench
  private let server: String

  /// The result is nil if no server is installed. Then zonerelay's rate is compared with
  /// `publishedRate`.
  init?(_ bench: Workbench) {
    // The reason why the server was not found is in `missing`.
    guard let server = try? Tool.natsServer.find() else { return nil }
    self.bench = bench
    self.server = server
  }

  func run(_ count: Int) async throws -> IngestBench.Result {
    let place = try bench.emptyDirectory("nats")
    let port = try Loopback.freePort()
    let child = try bench.start(
      server, ["-a", Loopback.address, "-p", "\(port)", "-js", "-sd", place.path], name: "nats")
    try Loopback.waitForListener(on: port, by: child, name: "nats-server")
    try await publish(count / 20, port)
    let (before, client) = (try child.cpu(), try CPUTime.ofThisProcess())
    let start = ContinuousClock.now
    try await publish(count, port)
    let took = ContinuousClock.now - start
    let result = IngestBench.Result(
      rate: Double(count) / took.inSeconds, server: (try child.cpu() - before).each(of: count),
      client: (try CPUTime.ofThisProcess() - client).each(of: count))
    _ = try await child.stop()
    return result
  }

  private func publish(_ count: Int, _ port: Int) async throws {
    let loop = bench.group.next()
    let finished = loop.makePromise(of: Void.self)
    let publisher = NATSPublisher(count: count, finished: finished)
    let channel: any Channel
    do {
      channel = try await ClientBootstrap(group: loop)
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(publisher)
          }
        }
        .connect(host: Loopback.address, port: port).get()
    } catch {
      finished.fail(error)
      throw error
    }
    let isOver = loop.scheduleTask(in: .seconds(120)) { channel.close(promise: nil) }
    defer { isOver.cancel() }
    try await finished.futureResult.get()
  }
}

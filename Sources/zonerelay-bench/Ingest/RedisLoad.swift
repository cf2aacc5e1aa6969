import Foundation

/// The reference for goal S4 (docs/performance.md): redis, which syncs its log before it answers,
/// and redis's own benchmark with 50 connections. Each connection sends one SET of 200 bytes at a
/// time.
struct RedisLoad {
  private let bench: Workbench
  private let server: String
  private let benchmark: String

  init(_ bench: Workbench) throws {
    self.bench = bench
    server = try Tool.redisServer.find()
    benchmark = try Tool.redisBenchmark.find()
  }

  func run(_ count: Int) async throws -> IngestBench.Result {
    let place = try bench.emptyDirectory("redis")
    let port = try Loopback.freePort()
    let child = try bench.start(
      server,
      [
        "--port", "\(port)", "--bind", Loopback.address, "--dir", place.path, "--appendonly", "yes",
        "--appendfsync", "always", "--save", "", "--daemonize", "no",
      ], name: "redis")
    try Loopback.waitForListener(on: port, by: child, name: "redis-server")
    _ = try await set(count / 20, port)
    let before = try child.cpu()
    let (rate, ended) = try await set(count, port)
    let cpu = try child.cpu() - before
    _ = try await child.stop()
    return IngestBench.Result(
      rate: rate, server: cpu.each(of: count), client: ended.cpu.each(of: count))
  }

  private func set(_ count: Int, _ port: Int) async throws -> (rate: Double, Child.Ended) {
    let child = try bench.start(
      benchmark,
      [
        "-h", Loopback.address, "-p", "\(port)", "-c", "\(IngestBench.connections)", "-n",
        "\(count)", "-d", "200", "-r", "20000", "-t", "set", "--csv",
      ], name: "redis-benchmark")
    let ended = try await child.wait(within: .seconds(120))
    guard ended.status == 0, let rate = Self.rate(in: child.text) else {
      throw BenchError("redis-benchmark ended with \(ended.status): \(child.said.suffix(2_000))")
    }
    return (rate, ended)
  }

  /// Reads the rate from `"SET","33726.14","1.4",…`.
  static func rate(in text: String) -> Double? {
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("\"SET\"") }) else {
      return nil
    }
    let cells = line.split(separator: ",")
    guard cells.count > 1 else { return nil }
    return Double(cells[1].trimmingCharacters(in: CharacterSet(charactersIn: "\"")))
  }
}

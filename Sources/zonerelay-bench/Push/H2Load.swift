import Foundation

/// The reference for the push figures: h2load, with one connection of 500 streams, and with the
/// same paths, headers and body size as zonerelay's pushes. h2load makes no payloads and no
/// decisions.
struct H2Load {
  private let bench: Workbench
  private let sink: Sink
  private let program: String
  private let body: String
  private let paths: String

  init(_ bench: Workbench, sink: Sink) throws {
    self.bench = bench
    self.sink = sink
    program = try Tool.h2load.find()
    let (body, paths) = (bench.file("h2load.body"), bench.file("h2load.paths"))
    try Data(PushWork.payload(1)).write(to: body)
    let lines = PushWork.tokens.map {
      "https://\(Loopback.address):\(sink.port)/3/device/\(PushWork.name(of: $0))"
    }
    try lines.joined(separator: "\n").write(to: paths, atomically: true, encoding: .utf8)
    (self.body, self.paths) = (body.path, paths.path)
  }

  func run(_ count: Int) async throws -> PushBench.Result {
    let headers = [
      // This value has the length of a signed token.
      "authorization: bearer " + String(repeating: "e", count: 186),
      "apns-id: 00000000-2e1a-90ff-0000-000000000001", "apns-topic: \(PushWork.topic)",
      "apns-push-type: background", "apns-priority: 5", "apns-expiration: 1795233600",
      "apns-collapse-id: \(PushWork.collapse)",
    ]
    let sinkBefore = try sink.child.cpu()
    let child = try bench.start(
      program,
      ["-c1", "-m500", "-n\(count)", "-d", body, "-i", paths] + headers.flatMap { ["-H", $0] },
      name: "h2load")
    let ended = try await child.wait(within: .seconds(120))
    let sinkCPU = try sink.child.cpu() - sinkBefore
    let text = child.text
    guard ended.status == 0, let rate = Self.rate(in: text),
      text.contains("\(count) succeeded"), text.contains("status codes: \(count) 2xx")
    else { throw BenchError("h2load did not get \(count) answers: \(child.said.suffix(2_000))") }
    return PushBench.Result(
      rate: rate, client: ended.cpu.each(of: count), sink: sinkCPU.each(of: count))
  }

  /// Reads the rate from `finished in 1.02s, 98039.22 req/s, 3.55MB/s`.
  static func rate(in text: String) -> Double? {
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("finished in ") })
    else { return nil }
    let parts = line.split(separator: ",")
    guard parts.count > 1 else { return nil }
    return parts[1].split(separator: " ").first.flatMap { Double($0) }
  }
}

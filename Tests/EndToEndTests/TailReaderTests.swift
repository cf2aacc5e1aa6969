import Foundation
import RelayWire
import Testing

/// Operators who follow the entries of the built daemon, but do not read their output.
@Suite struct TailReaderTests {
  /// Posts a thousand events in each round, each of another zone. Without a subscription each event
  /// makes one entry.
  private static func post(_ rounds: Int, _ producer: inout Producer) async throws {
    for _ in 0..<rounds {
      let events = (0..<1_000).map {
        producer.event("created", record: "R", zone: "Z\($0)", user: "_u\($0)")
      }
      #expect(try await producer.post(events).status == 202)
    }
  }

  private static func lines(_ tail: Program) -> [TraceLine] {
    // The last line may be incomplete.
    tail.output.split(separator: "\n").compactMap {
      try? JSONDecoder().decode(TraceLine.self, from: Data($0.utf8))
    }
  }

  private static func relay(in workplace: Workplace) async throws -> (RunningDaemon, Producer) {
    _ = try await Standin.start(in: workplace)
    try workplace.configure(window: "50ms", extra: "trace: { size: 1MiB }")
    let daemon = try await RunningDaemon.start(in: workplace)
    return (daemon, Producer(daemon.web, key: workplace.producerKey))
  }

  /// A tail that has shown its first entries.
  private static func follow(
    _ workplace: Workplace, _ producer: inout Producer
  ) async throws -> Program {
    let tail = try Program(
      ["tail", "--json", "--control", workplace.controlSocket], in: workplace, name: "tail")
    let hasBegun = try await Pause.until {
      try await post(1, &producer)
      return !lines(tail).isEmpty
    }
    #expect(hasBegun, "\(tail.errors)")
    return tail
  }

  /// A stopped tail reads nothing. For this tail the daemon then holds what fits into the sockets'
  /// buffers, the part that the daemon is writing, and ten thousand entries.
  @Test func `a slow tail is told what it missed, and one that never reads delays no stop`()
    async throws
  {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let (daemon, made) = try await Self.relay(in: workplace)
    var producer = made
    let tail = try await Self.follow(workplace, &producer)

    tail.signal(SIGSTOP)
    try await Self.post(14, &producer)
    tail.signal(SIGCONT)
    #expect(await Pause.until { Self.lines(tail).contains { $0.event == "missed" } })
    let lines = Self.lines(tail)
    let missed = try #require(lines.first { $0.event == "missed" }?.count)
    #expect(missed > 0 && Set(lines.map(\.event)).isSubset(of: ["change", "missed"]))

    tail.signal(SIGSTOP)
    try await Self.post(4, &producer)
    let began = ContinuousClock.now
    #expect(await daemon.stop().status == 0)
    #expect(ContinuousClock.now - began < .seconds(5))
    tail.signal(SIGCONT)
    let cut = await tail.wait(seconds: 30)
    #expect(cut.status == 1 && cut.errors.contains("the daemon's answer was cut off: "))
  }

  @Test func `a tail whose output is full says so and ends`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let (daemon, made) = try await Self.relay(in: workplace)
    var producer = made
    let line = "exec \(Program.binary.path) tail --control \(workplace.controlSocket) > /dev/full"
    let tail = try Program(
      ["-c", line], in: workplace, name: "tail", program: URL(fileURLWithPath: "/bin/sh"))
    #expect(
      try await Pause.until {
        try await Self.post(1, &producer)
        return !tail.isRunning
      })
    let ended = await tail.wait(seconds: 30)
    #expect(ended.status == 1 && ended.errors.contains("the output cannot be written: No space"))
    #expect(await daemon.stop().status == 0)
  }

  @Test func `a status that goes on ends when its output is full`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let (daemon, _) = try await Self.relay(in: workplace)
    let status = "exec \(Program.binary.path) status --watch --json"
    let line = "\(status) --control \(workplace.controlSocket) > /dev/full"
    let watch = try Program(
      ["-c", line], in: workplace, name: "watch", program: URL(fileURLWithPath: "/bin/sh"))
    let ended = await watch.wait(seconds: 30)
    #expect(ended.status == 1 && ended.errors.contains("the output cannot be written: No space"))
    #expect(await daemon.stop().status == 0)
  }

  @Test func `a tail of a killed daemon says that it was cut off`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let (daemon, made) = try await Self.relay(in: workplace)
    var producer = made
    let tail = try await Self.follow(workplace, &producer)
    await daemon.kill()
    let cut = await tail.wait(seconds: 30)
    #expect(cut.status == 1 && cut.errors.contains("follow again"), "\(cut.errors)")
  }
}

import Foundation
import RelayWire
import Synchronization
import Testing

@testable import RelayCommands

@Suite struct RenderingTests {
  @Test func `columns are as wide as their widest cell`() {
    #expect(
      TextTable.lines([["A", "BB", "C"], ["aaa", "b", ""]]) == ["A    BB  C", "aaa  b"])
  }

  @Test(arguments: [
    (0.04, "0.0 s"), (4.25, "4.2 s"), (61, "1 min"), (3_660, "1 h 1 min"), (90_000, "1 d 1 h"),
  ]) func `ages are shown in a short form`(_ seconds: Double, _ text: String) {
    #expect(HumanFormat.age(seconds) == text)
  }

  @Test(arguments: [(0, "0 B"), (1_023, "1023 B"), (1_536, "1.5 KiB"), (5 << 30, "5.0 GiB")])
  func `sizes are shown in a short form`(_ bytes: Int64, _ text: String) {
    #expect(HumanFormat.size(bytes) == text)
  }

  /// The table shows health, reasons, ledger, lanes and routes, without colours outside a terminal.
  @Test func `status prints a table that is coloured only on a terminal`() {
    let text = Self.report().lines(Paint(isColourful: false)).joined(separator: "\n")
    #expect(text.contains("unhealthy"))
    #expect(text.contains("! the route is stopped"))
    #expect(text.contains("matched"))
    #expect(text.contains("does not balance"))
    #expect(text.contains("BadDeviceToken"))
    #expect(!text.contains("\u{1b}"))
    let coloured = Self.report().lines(Paint(isColourful: true)).joined()
    #expect(coloured.contains("\u{1b}[31m"))
  }

  /// A provider, or a server in its place, may answer with anything.
  @Test func `what a provider said cannot move the terminal's cursor`() {
    var report = Self.report()
    report.reasons = ["the route is stopped: \u{1b}[2J"]
    report.routes[0].lastError = "no\u{1b}[1A\r\nroute"
    let lines = report.lines(Paint(isColourful: false))
    #expect(lines.allSatisfy { !$0.contains("\u{1b}") && !$0.contains("\n") })
    #expect(lines.contains { $0.hasSuffix("no\u{fffd}[1A route") })
  }

  /// JSON has the same shape as on the wire.
  @Test func `status as JSON has the same shape as on the wire`() throws {
    let words = Mutex("")
    let console = Console(answer: { text in words.withLock { $0 += text } }, talk: { _ in })
    try Renderer(format: .json, console: console).show(Self.report())
    let data = Data(words.withLock { $0 }.utf8)
    #expect(try JSONDecoder().decode(StatusReport.self, from: data) == Self.report())
    try Renderer(format: .jsonLine, console: console).show(Self.report())
    #expect(words.withLock { $0 }.split(separator: "\n").last?.hasPrefix("{") == true)
  }

  @Test(arguments: ["Apple refuses the key", "Keys/apple.p8 holds no key", "SQLite says no"])
  func `an error and its hint keep the capital of a name`(_ text: String) {
    let words = Mutex("")
    let console = Console(answer: { _ in }, talk: { line in words.withLock { $0 += line } })
    console.report(Failure(.failed, "\(text).", hint: text))
    #expect(words.withLock { $0 } == "zonerelay: error: \(text)\nzonerelay: hint: \(text)\n")
  }

  /// The table fits a usual terminal. A wider terminal shows more, and JSON shows everything.
  @Test func `a device list fits an 80-column terminal`() {
    let device = DeviceReport(
      clientId: "6f1c1e9e-4f0c-4d5e-9a53-0f6f4d3f8a11", user: "_0123456789abcdef0123456789abcdef",
      container: "iCloud.com.example.notes", environment: "development", transport: "webpush",
      topic: "com.example.notes", state: "retired", reason: nil, registeredAt: 0, age: 90_000,
      tokenDigest: "0a1b2c3d", lane: "watching", pending: 1_234_567, hasAcknowledged: true,
      nextWake: 7, lastWake: 1, ladderStep: 0, lastVerdict: "delivered", lastVerdictAt: 1,
      lastFetch: 1)
    let report = DevicesReport(devices: [device])
    let narrow = report.lines(Paint(isColourful: false))
    #expect(narrow.allSatisfy { $0.count <= 80 })
    #expect(
      narrow[1]
        == "6f1c1e9e-4f0c-4d5e-9a53-0f6f4d3f8a11  _012345…abcdef  retired  watching  1234567")
    let wide = report.lines(Paint(isColourful: false, columns: 300))
    #expect(wide[0].hasSuffix("CONTAINER") && wide[1].hasSuffix("iCloud.com.example.notes"))
  }

  /// The notice goes to stderr, so that stdout stays a table whose lines can be counted.
  @Test func `a truncated device list is reported on stderr`() throws {
    let words = Mutex("")
    let talk = Mutex("")
    let console = Console(
      answer: { text in words.withLock { $0 += text } },
      talk: { text in talk.withLock { $0 += text } })
    let renderer = Renderer(format: .text, console: console)
    try DeviceListCommand.show(DevicesReport(devices: []), by: renderer)
    #expect(talk.withLock { $0 } == "")
    try DeviceListCommand.show(DevicesReport(devices: [], moreComing: true), by: renderer)
    #expect(talk.withLock { $0 } == "more than 0 devices: narrow it with --user\n")
    #expect(words.withLock { $0 } == "no devices\nno devices\n")
    let data = try JSONEncoder().encode(DevicesReport(devices: []))
    #expect(String(decoding: data, as: UTF8.self) == #"{"devices":[]}"#)
  }

  static func report() -> StatusReport {
    var ledger = StatusReport.Ledger()
    ledger.matched = 3
    ledger.balanced = false
    var lanes = StatusReport.Lanes()
    lanes.idle = 2
    return StatusReport(
      version: "0.1.0", pid: 7, uptime: 61, healthy: false, reasons: ["the route is stopped"],
      store: .init(engine: "sqlite", bytes: 4_096, journalTail: 1, foldLag: 0.1), ledger: ledger,
      changes: .init(accepted: 3, duplicates: 1, rejected: 0), lanes: lanes,
      routes: [
        .init(
          container: "iCloud.com.example.notes", environment: "development", transport: "apns",
          topic: "com.example.notes", circuit: "open", inFlight: 0, sent: 2, delivered: 1,
          lastError: "BadDeviceToken")
      ], fanouts: .init(running: 0, oldestAge: 0), oldestPendingAge: 2)
  }
}

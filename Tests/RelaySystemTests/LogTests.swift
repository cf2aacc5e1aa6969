import Foundation
import Logging
import RelayCore
import Synchronization
import Testing

@testable import RelaySystem

/// Where log lines go, and how their values are written.
@Suite struct LogTests {
  private final class Lines: Sendable {
    private let lines = Mutex<[LogLine]>([])
    var all: [LogLine] { lines.withLock { $0 } }
    func add(_ line: LogLine) { lines.withLock { $0.append(line) } }
  }

  private static let line = LogLine(
    time: Instant(milliseconds: 1_795_230_000_123), level: .warning, logger: "engine",
    message: "route stopped",
    fields: [("container", "iCloud.a"), ("lastError", "said \"no\"\nand left"), ("time", "7")],
    file: "RelayEngine/EngineLoop.swift", line: 60, function: "run()")

  private static func logger(_ levelHandle: LogLevelHandle, _ lines: Lines) -> Logger {
    Logger(label: "engine") { label in
      FieldLogHandler(label: label, levelHandle: levelHandle) { lines.add($0) }
    }
  }

  @Test func `a call's values override the logger's values in a log line`() {
    let lines = Lines()
    var logger = Self.logger(LogLevelHandle(), lines)
    logger[metadataKey: "zone"] = "a"
    logger[metadataKey: "route"] = "r"
    logger.info("said", metadata: ["zone": "b", "list": ["x", "y"]])
    let line = lines.all[0]
    #expect(line.logger == "engine" && line.message == "said" && line.level == .info)
    #expect(line.fields.map(\.name) == ["list", "route", "zone"])
    #expect(line.fields.map(\.value) == ["[\"x\", \"y\"]", "r", "b"])
  }

  @Test func `the level handle sets every logger that has no level of its own`() {
    let lines = Lines()
    let levelHandle = LogLevelHandle(.info)
    let logger = Self.logger(levelHandle, lines)
    var own = logger
    own.logLevel = .error
    logger.debug("1")
    levelHandle.level = .debug
    logger.debug("2")
    own.warning("3")
    own.error("4")
    #expect(lines.all.map(\.message) == ["2", "4"])
  }

  @Test func `a text log line contains no line break`() {
    #expect(
      Self.line.text
        == #"2026-11-21T03:00:00.123Z warning engine: route stopped container=iCloud.a "#
        + #"lastError="said \"no\"\nand left" time=7"#)
  }

  @Test func `a JSON log line is one object with every value`() throws {
    let object = try JSONDecoder().decode([String: String].self, from: Data(Self.line.json.utf8))
    #expect(
      object == [
        "time": "2026-11-21T03:00:00.123Z", "level": "warning", "logger": "engine",
        "message": "route stopped", "container": "iCloud.a",
        "lastError": "said \"no\"\nand left", "time_": "7",
      ])
    #expect(!Self.line.json.contains("\n"))
  }

  @Test func `a JSON log line preserves all control characters`() throws {
    var line = Self.line
    let every = String(String.UnicodeScalarView((0..<256).compactMap { Unicode.Scalar($0) }))
    line.fields = [("all", every)]
    let object = try JSONDecoder().decode([String: String].self, from: Data(line.json.utf8))
    #expect(object["all"] == every)
  }

  @Test func `the systemd journal gets a field for each value`() {
    let fields = Dictionary(
      SystemdJournal.fields(Self.line).map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    #expect(fields["PRIORITY"] == "4")
    #expect(fields["SYSLOG_IDENTIFIER"] == "zonerelay")
    #expect(fields["CODE_LINE"] == "60")
    #expect(fields["ZONERELAY_CONTAINER"] == "iCloud.a")
    #expect(fields["ZONERELAY_LAST_ERROR"] == "said \"no\"\nand left")
    #expect(fields["MESSAGE"]?.hasPrefix("route stopped container=iCloud.a") == true)
  }

  @Test(arguments: [
    ("route", "ZONERELAY_ROUTE"), ("apnsID", "ZONERELAY_APNS_ID"), ("a.b-c", "ZONERELAY_A_B_C"),
    ("zoné", "ZONERELAY_ZON_"), ("n2Max", "ZONERELAY_N2_MAX"),
  ])
  func `field names follow the rules of the systemd journal`(key: String, name: String) {
    #expect(SystemdJournal.name(key) == name)
    #expect(SystemdJournal.name(String(repeating: "k", count: 200)).utf8.count == 64)
  }

  @Test func `an invalid descriptor is not the systemd journal`() {
    #expect(!LogOutput.isJournal(descriptor: -1))
  }
}

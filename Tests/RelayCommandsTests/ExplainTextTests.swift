import Foundation
import RelayCore
import RelayWire
import Synchronization
import Testing

@testable import RelayCommands

/// Explanations and entries as people read them.
@Suite struct ExplainTextTests {
  @Test func `every reason of the closed list has a sentence, advice and a row in the docs`() throws
  {
    #expect(ReasonText.codes == Set(Explanation.Reason.codes))
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appendingPathComponent("docs/operations.md"), encoding: .utf8)
    for code in Explanation.Reason.codes {
      #expect(page.contains("| `\(code)` |"), "docs/operations.md does not explain \(code)")
      #expect(ReasonText.advice(ExplainReport.Reason(code: code)) != nil)
    }
  }

  @Test func `a reason says until when, for which wake and why`() {
    var reason = ExplainReport.Reason(code: "resting")
    (reason.until, reason.detail) = (1_792_206_000_000, "InternalServerError")
    #expect(
      ReasonText.sentence(reason)
        == "the last attempt failed, and the device rests: InternalServerError, "
        + "until 2026-10-17T03:00:00Z")
    reason = ExplainReport.Reason(code: "under_way")
    reason.w = 7
    #expect(ReasonText.sentence(reason) == "the wake is under way, wake 7")
  }

  @Test func `an explanation shows device, change, outcome, advice and story`() {
    var result = ExplainReport.Result(outcome: "not_woken")
    result.reason = ExplainReport.Reason(code: "own_change")
    var change = TraceLine(at: 1_792_206_000_000, event: "change")
    (change.kind, change.notificationID, change.database) = ("record.updated", "nid", "private")
    change.zoneID = TraceLine.ZoneName(zoneName: "Notes", ownerRecordName: "_abc")
    change.record = TraceLine.RecordName(recordName: "A1", recordType: "Article")
    let report = ExplainReport(
      now: 1_792_206_001_000, knownSince: 1_792_200_000_000, gaps: 2,
      devices: [
        ExplainReport.DeviceStanding(
          clientId: "6f1c", user: "_abc", container: "c", environment: "production",
          isRegistered: true, waiting: [])
      ],
      changes: [
        ExplainReport.ExplainedChange(
          change: change,
          devices: [
            ExplainReport.ExplainedDevice(
              clientId: "6f1c", user: "_abc", container: "c", environment: "production",
              result: result, deliveries: [], story: [change])
          ], moreDevices: 3)
      ], moreChanges: true)
    let text = report.lines(Paint(isColourful: false)).joined(separator: "\n")
    for part in [
      "device 6f1c  registered", "nothing waits to be told",
      "record.updated A1 (Article) in _abc/Notes, private",
      "not woken [own_change]: the device made the change itself", "what to do: nothing",
      "03:00:00.000  record.updated", "and 3 further devices: name one", "ask for more with --last",
      "entries are missing in 2 places",
    ] {
      #expect(text.contains(part), "\(part) is not in:\n\(text)")
    }
  }

  @Test func `what is missing and what was left out are lines, too`() {
    var line = TraceLine(at: 0, event: "lost")
    #expect(
      line.lines(Paint(isColourful: false)) == [
        "-  an unknown number of entries are missing here"
      ])
    (line.event, line.count) = ("missed", 12)
    #expect(line.sentence.hasPrefix("12 entries are not shown: they came faster"))
  }

  @Test(arguments: [1_795_654_209_231, 1_795_654_704_477, 1_795_654_679_395])
  func `a line has the millisecond of its entry`(time: Int64) {
    let line = TraceLine(at: time, event: "began")
    #expect(line.lines(Paint(isColourful: false))[0].contains(".\(time % 1_000)  "))
  }

  @Test func `a wake that names nothing does not say that it names something`() {
    var line = TraceLine(at: 1_792_206_000_000, event: "wake")
    (line.w, line.kind, line.reason, line.names) = (1, "alert", "news", [])
    #expect(line.sentence.hasSuffix("apns-id -, because of news"))
    line.names = ["_abc/Notes"]
    #expect(line.sentence.hasSuffix("apns-id -, names _abc/Notes, because of news"))
  }

  /// Clients choose the names of zones, and producers those of records.
  @Test(arguments: [true, false])
  func `a name cannot turn the direction of a line or colour it`(isColourful: Bool) throws {
    var line = TraceLine(at: 1_792_206_000_000, event: "change")
    line.zoneID = TraceLine.ZoneName(
      zoneName: "a\u{202e}b\u{2066}c", ownerRecordName: "_abc\u{1b}[7m\u{9b}31m")
    line.record = TraceLine.RecordName(recordName: "é\u{200f}\u{2028}x", recordType: "T\r")
    let words = Mutex("")
    var console = Console(answer: { text in words.withLock { $0 += text } }, talk: { _ in })
    console.isColourful = isColourful
    try Renderer(format: .text, console: console).show(line)
    let text = words.withLock { $0 }
    #expect(text.contains("_abc\u{fffd}[7m\u{fffd}31m/a\u{fffd}b\u{fffd}c"), "\(text)")
    #expect(text.contains("é\u{fffd} x (T"), "\(text)")
    #expect(text.contains("\u{1b}[2m") == isColourful)
    #expect(text.unicodeScalars.count { $0 == "\u{1b}" } == (isColourful ? 2 : 0))
  }
}

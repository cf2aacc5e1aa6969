import RelayCore
import Testing

/// The zone that an alert tells of stays pending: the alert's own push and later pushes name it.
@Suite struct QuietAlertTests {
  private static let history = ZoneID(name: "History", owner: Sample.owner)

  private func rig(runsApp: Bool = false, _ rule: Subscription.Rule? = nil) -> PartitionRig {
    var rig = PartitionRig()
    rig.register(1)
    var info = NotificationInfo()
    info.alert.body = "Hello"
    info.isContentAvailable = runsApp
    rig.save("shown", rule ?? .zone(Sample.zone, recordType: nil), .private, info)
    return rig
  }

  @Test func `an alert and the next background wake both name the alert's zone`() {
    var rig = rig()
    rig.save("silent", .zone(Self.history, recordType: nil))
    rig.change(.record(.created))
    let alert = rig.wake()
    #expect(alert.map(\.intent) == [.alert])
    #expect(alert.map { $0.says(#""zr":{"w":1,"n":1,"z":[["ReadingList","_abc",1]]}"#) } == [true])
    rig.ended(alert[0], .delivered)
    // The alert did not run the app, so the next wake names its zone again.
    rig.change(.record(.created), in: Self.history)
    let silent = rig.wake()
    #expect(silent.map(\.intent) == [.background])
    #expect(silent.map { $0.says(#""n":2,"z":[["History","_abc",1],["ReadingList""#) } == [true])
    rig.ended(silent[0], .delivered)
    rig.change(.record(.updated), in: Self.history)
    #expect(rig.wake().map { $0.says("ReadingList") } == [false])
    #expect(rig.partition.ledger.isBalanced)
  }

  @Test func `a visible query subscription makes the notifications feed pend`() {
    var rig = rig(.query(QueryRule(recordType: "Article")))
    rig.change(.record(.created))
    #expect(rig.wake().map { $0.says(#""zr":{"w":1,"n":1,"q":1}"#) } == [true])
  }

  /// Earlier, an alert without content-available covered the zones of silent subscriptions, though
  /// the alert never ran the app.
  @Test func `an alert without content-available does not replace a background wake`() {
    var rig = rig()
    rig.save("silent", .database(recordType: nil))
    rig.change(.record(.created))
    let alert = rig.wake()
    #expect(alert.map(\.intent) == [.alert])
    rig.ended(alert[0], .delivered)
    #expect(rig.wake().map(\.intent) == [.background])
  }

  @Test func `an alert that runs the app also covers the zones it names`() {
    var rig = rig(runsApp: true)
    rig.save("silent", .database(recordType: nil))
    rig.change(.record(.created))
    let alert = rig.wake()
    #expect(alert.map(\.intent) == [.alert])
    rig.ended(alert[0], .delivered)
    #expect(rig.wake().isEmpty)
    #expect(rig.partition.ledger.woken == 1 && rig.partition.ledger.merged == 1, "one subject")
    #expect(rig.partition.ledger.isBalanced && rig.partition.ledger.pending == 0)
  }

  /// An alert with nothing to show is a background wake: priority 5, and the background budget.
  @Test func `an alert without any text that fits is sent as a background wake`() {
    var rig = PartitionRig()
    rig.register(1)
    var info = NotificationInfo()
    info.alert.bodyKey = String(repeating: "\u{1}", count: 1_024)
    rig.save("long", .zone(Sample.zone, recordType: nil), .private, info)
    rig.change(.record(.created))
    rig.lines = []
    var attempts = rig.wake()
    attempts += rig.wake()
    #expect(attempts.map(\.intent) == [.background])
    #expect(attempts.allSatisfy { $0.text.hasPrefix(#"{"aps":{"content-available":1},"#) })
    #expect(attempts.allSatisfy { $0.payload.count <= 4_096 })
    for attempt in attempts { rig.ended(attempt, .delivered) }
    #expect(rig.partition.ledger.woken == 1 && rig.partition.ledger.isBalanced)
  }
}

extension PushAttempt {
  fileprivate func says(_ part: String) -> Bool { text.contains(part) }
}

import Testing

@testable import RelayCore

/// What explanations say of alerts, above all of several alerts that one change fires.
@Suite struct AlertExplanationTests {
  @Test func `of two alerts of one change, each is told by its own wake`() {
    var rig = TraceRig.subscribed(visible: true) { $0.alert.max = 1 }
    rig.save("all", .database(recordType: nil), visible: true)
    rig.fold()
    let change = rig.change()
    rig.wake()
    let waiting = rig.explanation(of: change)?.deliveries.map { "\($0.outcome)" } ?? []
    #expect(waiting.first == "woken(1)" && waiting.last?.contains("budget") == true, "\(waiting)")
    rig.wait(3_600)
    rig.end()
    let told = rig.explanation(of: change)?.deliveries.map(\.outcome)
    #expect(told == [.woken(1), .woken(2)])
  }

  @Test func `of two alerts of one change, the one that gives way is the one not shown`() {
    var limits = Limits()
    limits.alertsPending = 1
    var rig = TraceRig.subscribed(limits: limits, visible: true)
    rig.save("all", .database(recordType: nil), visible: true)
    rig.fold()
    let change = rig.change()
    rig.wake()
    let found = rig.explanation(of: change)?.deliveries.map(\.outcome)
    #expect(found == [.not(.crowdedOut), .woken(1)])
  }

  /// An alert has nothing to show if no text of it fits into a push.
  @Test func `an alert with nothing to show is told in the background, and another as an alert`() {
    var rig = TraceRig.subscribed(visible: true)
    var info = NotificationInfo()
    info.alert.bodyKey = String(repeating: "\u{1}", count: 1_024)
    rig.modify(
      .save(
        Subscription(
          id: SubscriptionID("long"), database: .private, rule: .database(recordType: nil),
          info: info)))
    rig.fold()
    let change = rig.change()
    for _ in 0..<3 { rig.wake() }
    let found = rig.explanation(of: change)?.deliveries.map(\.outcome)
    #expect(found == [.woken(1), .woken(2)])
  }

  @Test func `an alert that gives way and runs the app is told in the background`() {
    var limits = Limits()
    limits.alertsPending = 1
    var rig = TraceRig.subscribed(limits: limits, visible: true, runsApp: true)
    rig.save("all", .database(recordType: nil), visible: true)
    rig.fold()
    let change = rig.change()
    rig.wake()
    rig.wake()
    let found = rig.explanation(of: change)?.deliveries.map(\.outcome)
    #expect(found == [.woken(2), .woken(1)])
  }

  /// The subject of the second alert was named by the wake of the first.
  @Test func `an alert that gives way after its subject was told was told beside another`() {
    var limits = Limits()
    limits.alertsPending = 2
    var rig = TraceRig.subscribed(limits: limits)
    rig.save("all", .database(recordType: nil), visible: true, runsApp: true)
    rig.fold()
    let zones = (1...4).map { ZoneID(name: "Z\($0)", owner: Sample.owner) }
    rig.change(in: zones[0])
    let change = rig.change(in: zones[1])
    rig.wait(2)
    rig.change(in: zones[2])
    rig.change(in: zones[3])
    rig.end()
    #expect(["crowded_out", "already_told"].contains(rig.why(change)))
  }

  /// One of the lost entries may have said that the alert ended. A later wake that shows the alert
  /// proves that it had not ended.
  @Test func `an alert that is shown after lost entries woke the device`() {
    var rig = TraceRig.subscribed(visible: true)
    let change = rig.change()
    let gap = rig.entries.count
    rig.wake()
    #expect(rig.why(change, without: gap..<gap) == "woken 1")
  }

  @Test func `each alert of a change waits for the same stopped route`() {
    var rig = TraceRig.subscribed(visible: true)
    rig.save("all", .database(recordType: nil), visible: true)
    rig.fold()
    rig.relay.withdraw(ExplanationTests.route, at: rig.now)
    let change = rig.change()
    rig.wait(2)
    let found = rig.explanation(of: change)?.deliveries.map(\.outcome)
    #expect(found == [.not(.noProvider), .not(.noProvider)])
  }

  /// The newer alert replaces the one in flight, and another alert has to give way, too.
  @Test func `an alert that gives way to the successor of the alert in flight is not shown`() {
    var limits = Limits()
    limits.alertsPending = 1
    var rig = TraceRig.subscribed(limits: limits, visible: true)
    rig.save("all", .database(recordType: nil), visible: true)
    rig.fold()
    let other = ZoneID(name: "Other", owner: Sample.owner)
    let first = rig.change(in: other)
    rig.wait(2)
    let waiting = rig.change()
    rig.change(in: other)
    let found = rig.explanation(of: waiting)?.deliveries.map(\.outcome)
    #expect(found == [.not(.crowdedOut), .not(.crowdedOut)])
    rig.end()
    #expect(rig.why(first) == "woken 1")
  }
}

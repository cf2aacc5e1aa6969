import RelayCore
import Testing

/// P11: a device has a bounded number of pending zones and alerts. A push that leaves some of them
/// out states that there are more.
@Suite struct PendingBoundsTests {
  /// Limit: limits.zonesPending
  @Test(arguments: [(zones: 2, isMore: false), (3, false), (4, true)])
  func `a push names zones up to the limit and flags that there are more`(zones: Int, isMore: Bool)
  {
    var limits = Limits()
    limits.zonesPending = 3
    var rig = PartitionRig(limits: limits)
    rig.register(1)
    rig.save("all", .database(recordType: nil))
    for number in 0..<zones {
      rig.change(.record(.created), in: ZoneID(name: "Z\(number)", owner: Sample.owner))
    }
    let pushes = rig.wake().map(\.text)
    #expect(pushes.count == 1)
    let named = (0..<zones).filter { pushes.first?.contains(#"["Z\#($0)","#) == true }
    #expect(named == Array(0..<min(zones, 3)))
    #expect(pushes.first?.contains(#""m":1"#) == isMore)
    #expect(rig.partition.ledger.isBalanced)
  }

  /// Limit: limits.alertsPending
  @Test(arguments: [(alerts: 2, shown: [0, 1]), (3, [0, 1, 2]), (4, [1, 2, 3])])
  func `a device's pending alerts are limited, and a push flags a lost one`(
    alerts: Int, shown: [Int]
  ) {
    var limits = Limits()
    limits.alertsPending = 3
    var rig = PartitionRig(limits: limits)
    rig.register(1)
    rig.save("q", .query(QueryRule(recordType: "Article")), visible: true)
    for number in 0..<alerts { rig.change(.record(.created, "R\(number)")) }
    var texts: [String] = []
    for _ in 0..<alerts {
      for attempt in rig.wake() {
        texts.append(attempt.text)
        rig.ended(attempt, .delivered)
      }
    }
    let alone = texts.filter { $0.contains(#""alert""#) }
    #expect(alone.count == shown.count)
    for (text, number) in zip(alone, shown) { #expect(text.contains(#""rid":"R\#(number)""#)) }
    #expect(alone.first?.contains(#""m":1"#) == (alerts > 3))
    #expect(rig.partition.ledger.isBalanced)
  }

  /// Limit: limits.payloadBytes
  @Test(arguments: [(spare: -1, isPruned: true), (0, false), (1, false)])
  func `a push stays within the payload limit and flags that it was cut`(spare: Int, isPruned: Bool)
  {
    let whole = push(Limits())
    var limits = Limits()
    limits.payloadBytes = whole.utf8.count + spare
    let text = push(limits)
    #expect(text.utf8.count <= limits.payloadBytes)
    #expect((text != whole) == isPruned && text.contains(#""p":1"#) == isPruned)
  }

  private func push(_ limits: Limits) -> String {
    var rig = PartitionRig(limits: limits)
    rig.register(1)
    rig.save("q", .query(QueryRule(recordType: "Article")), visible: true)
    rig.change(.record(.created, String(repeating: "r", count: 200)))
    return rig.wake().first?.text ?? "no push"
  }
}

@testable import RelayCore
import Testing

/// The alerts of hot changes, which are sent before the slot and name it.
@Suite struct SmearedAlertTests {
  @Test func `alerts of a hot change are sent at once and name each user's slot`() {
    var rig = SmearingTests.rig(30, visible: true)
    rig.publish(1)
    let wakes = rig.wakes(for: 3)
    #expect(wakes.count == 30)
    let waits = wakes.compactMap(\.notBefore)
    #expect(waits.count >= 26 && Set(waits).count >= 26, "each its own")
  }

  /// A lane has one subject for all queries, and the two changes share it. After the change of the
  /// user's own zone this subject is not hot any more, but the alert of the hot change still is.
  @Test func `an alert of a hot change names the slot, even if the rest does not wait`() throws {
    var rig = SmearingTests.rig(30, visible: true)
    let user = users(30, inHomeOf: Sample.owner, true)[7]
    rig.save("own", SmearingTests.rule, of: user, visible: true)
    rig.publish(1)
    rig.change(.record(.created), in: ZoneID(name: "Own", owner: user))
    let first = try #require(rig.wakes(for: 3).first { $0.user == user })
    let slot = try #require(first.notBefore)
    #expect(slot > first.at)
  }

  @Test func `an alert that leaves at its slot asks for no wait`() throws {
    var rig = SmearingTests.rig(30, visible: true)
    rig.publish(1)
    rig.now = rig.now + .seconds(3)
    for _ in 0..<3 {
      rig.lines += rig.partition.ready(at: rig.now)
      rig.fold()
    }
    let partition = rig.partition
    let ready = try #require(rig.lines.first { partition.devices[$0.device].lane.slot > rig.now })
    let slot = partition.devices[ready.device].lane.slot
    for (early, asks) in [(Int64(1), true), (0, false)] {
      var partition = partition
      let push = partition.begin(
        ready, at: slot - Span(milliseconds: early), wallAhead: .zero)
      #expect(push?.text.contains(#""nb":"#) == asks)
    }
  }
}

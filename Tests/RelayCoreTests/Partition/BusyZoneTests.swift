import RelayCore
import Testing

/// P5: a zone that changes before every fold.
@Suite struct BusyZoneTests {
  /// P4: every notification that is shown is also in the store.
  @Test func `a busy zone's alerts are shown, and none is shown before its fold`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", .database(recordType: nil), visible: true)
    var pushes: [PushAttempt] = []
    var logged: [String] = []
    for _ in 0..<600 {
      rig.change(.record(.updated))
      pass(&rig)
      let cut = rig.cut()
      rig.change(.record(.updated))
      pass(&rig)
      rig.keep()
      logged += notifications(of: cut)
      let lines = rig.lines
      rig.lines = []
      for push in lines.compactMap({ rig.partition.begin($0, at: rig.now) }) {
        pushes.append(push)
        #expect(logged.contains { push.text.contains($0) }, "shown before its fold")
        rig.ended(push, .delivered)
      }
    }
    #expect(pushes.count > 10, "in a minute of changes")
    #expect(rig.partition.ledger.isBalanced)
  }

  private func pass(_ rig: inout PartitionRig) {
    rig.now = rig.now + Span(milliseconds: 50)
    rig.lines += rig.partition.ready(at: rig.now)
  }

  private func notifications(of cut: PartitionCut) -> [String] {
    let deltas = cut.feed(.notifications(Sample.owner))?.deltas ?? []
    return deltas.compactMap { row in
      guard case .notification(let detail) = row.delta.last.detail else { return nil }
      return detail.notification.text
    }
  }
}

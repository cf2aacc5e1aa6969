import Testing

@testable import RelayCommands

/// The order of the doctor's steps, and which steps the doctor skips after which result.
@Suite struct ExaminationTests {
  /// The steps of one whole run of the doctor. For skipped steps the list has `-` and their group.
  private func transcript(
    isOffline: Bool = false, hasSettings: Bool = true, hasStore: Bool = true,
    isRunning: Bool = true
  ) -> [String] {
    var examination = Examination(isOffline: isOffline)
    var lines: [String] = []
    while true {
      switch examination.next() {
      case .end: return lines
      case .skip(let finding):
        #expect(finding.result == .skipped)
        lines.append("- \(finding.group.rawValue)")
      case .look(let step):
        lines.append("\(step)")
        if step == .configuration {
          (examination.hasSettings, examination.hasStore) = (hasSettings, hasStore)
        }
        if step == .daemon { examination.isRunning = isRunning }
      }
    }
  }

  @Test func `a healthy relay is looked at in the order of a change's way`() {
    #expect(
      transcript() == [
        "configuration", "files", "clock", "limits", "disk", "store", "port", "daemon", "servers",
        "origins", "credentials", "change", "clockRun",
      ])
  }

  @Test func `without a daemon no origin and no change is tried`() {
    #expect(
      transcript(isRunning: false) == [
        "configuration", "files", "clock", "limits", "disk", "store", "port", "daemon", "servers",
        "credentials", "- change", "clockRun",
      ])
  }

  @Test func `offline neither a server nor the daemon is asked`() {
    #expect(
      transcript(isOffline: true) == [
        "configuration", "files", "clock", "limits", "disk", "store", "port", "- daemon",
        "- network", "credentials", "- change", "clockRun",
      ])
  }

  @Test func `a bad configuration leaves what does not depend on it`() {
    #expect(
      transcript(hasSettings: false) == [
        "configuration", "files", "clock", "- limits", "disk", "store", "- port", "daemon",
        "- network", "- credentials", "- change", "clockRun",
      ])
    #expect(
      transcript(hasSettings: false, hasStore: false) == [
        "configuration", "- files", "clock", "- limits", "- disk", "- store", "- port", "daemon",
        "- network", "- credentials", "- change", "clockRun",
      ])
  }

  /// An operator repairs the first failure first, so the doctor must look in the order of the
  /// groups.
  @Test func `the groups of the looks keep the order of the groups`() {
    let groups = Examination.Step.allCases.filter { $0 != .clockRun }.map(\.group)
    let order = groups.compactMap { CheckGroup.allCases.firstIndex(of: $0) }
    #expect(order == order.sorted() && Set(groups).count == CheckGroup.allCases.count)
  }
}

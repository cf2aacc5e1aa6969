import Synchronization

/// Keeps the findings, and prints each as it comes, with a heading before each group.
final class FindingLog: Sendable {
  private let console: Console
  /// True if the findings are printed at the end, as JSON.
  private let isSilent: Bool
  private let kept = Mutex<[Finding]>([])

  init(console: Console, isSilent: Bool) {
    self.console = console
    self.isSilent = isSilent
  }

  var findings: [Finding] { kept.withLock { $0 } }

  func tell(_ finding: Finding) {
    let last = kept.withLock { kept in
      defer { kept.append(finding) }
      return kept.last
    }
    guard !isSilent else { return }
    let paint = console.paint
    if last?.group != finding.group { console.answer(line: paint.strong(finding.group.rawValue)) }
    for line in finding.lines(paint) { console.answer(line: line) }
  }
}

/// Everything that the doctor found. Its JSON is a documented contract: docs/operations.md.
struct DoctorReport: Encodable, Sendable {
  let version: String
  let passed: Bool
  let firstFailure: Finding?
  let findings: [Finding]

  init(version: String, findings: [Finding]) {
    (self.version, self.findings) = (version, findings)
    firstFailure = findings.first { $0.result == .failed }
    passed = firstFailure == nil
  }

  /// How many findings of each kind there are, and the first failure.
  private func summary(_ paint: Paint) -> [String] {
    let words: [(Finding.Result, String)] = [
      (.passed, "good"), (.warning, "to look at"), (.failed, "failed"), (.skipped, "skipped"),
    ]
    let counts = words.map { result, word in "\(findings.count { $0.result == result }) \(word)" }
    guard let first = firstFailure else {
      return [paint.good("all is well") + ": " + counts.joined(separator: ", ")]
    }
    return [
      paint.bad("not all is well") + ": " + counts.joined(separator: ", "),
      "begin with: \(first.group.rawValue): "
        + HumanFormat.line("\(first.subject): \(first.message)"),
    ]
  }
}

extension DoctorReport: Readable {
  /// The last lines. The findings were printed one by one, as they came.
  func lines(_ paint: Paint) -> [String] { [""] + summary(paint) }
}

extension FindingCode: Encodable {
  func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

extension Finding {
  /// The finding's line, and its remedy below it.
  func lines(_ paint: Paint) -> [String] {
    let time = seconds.map { paint.faint(" (\(Int(($0 * 1_000).rounded())) ms)") } ?? ""
    // The words of a library or of a server may have several lines and any characters.
    let words = HumanFormat.line(
      ([subject, message] + [cause].compactMap(\.self)).joined(separator: ": "))
    return ["  \(mark(paint)) \(words)\(time)"]
      + (remedy.map { ["      remedy: \(HumanFormat.line($0))"] } ?? [])
  }

  /// The sign of the result. Where no colours are shown, the name of the result stands beside the
  /// sign.
  private func mark(_ paint: Paint) -> String {
    switch result {
    case .passed: paint.isColourful ? paint.good("✓") : "✓ ok"
    case .warning: paint.isColourful ? paint.strong("!") : "! warning"
    case .failed: paint.isColourful ? paint.bad("✗") : "✗ failed"
    case .skipped: paint.isColourful ? paint.faint("-") : "- skipped"
    }
  }
}

/// What can be wrong, each with the sentence that the doctor prints and the remedy.
///
/// The text of a code never changes: scripts look for it in `doctor --json`, and operators in
/// docs/troubleshooting.md, which has the same sentences.
struct FindingCode: Hashable, Sendable {
  let text: String
  let group: CheckGroup
  let sentence: String
  let remedy: String
  /// True if the relay works all the same.
  let isWarning: Bool

  init(
    _ text: String, _ group: CheckGroup, isWarning: Bool = false, _ sentence: String,
    remedy: String
  ) {
    self.text = text
    self.group = group
    self.sentence = sentence
    self.remedy = remedy
    self.isWarning = isWarning
  }

  static func == (left: FindingCode, right: FindingCode) -> Bool { left.text == right.text }
  func hash(into hasher: inout Hasher) { hasher.combine(text) }

  /// Every code, in the order of the groups.
  static let all: [FindingCode] =
    [configurationBad] + ofFiles + ofClock + ofMachine + ofStore + ofDaemon + ofNetwork
    + ofCredentials + ofChange

  static let configurationBad = FindingCode(
    "configuration_bad", .configuration, "the configuration is bad",
    remedy: "correct every problem that is listed; zonerelay check lists the same ones")
}

/// One line of the doctor: what the doctor looked at, and what follows from what was seen.
struct Finding: Hashable, Encodable, Sendable {
  enum Result: String, Encodable, Sendable {
    case passed
    /// The relay works in spite of the finding, but the operator should look at the subject.
    case warning
    case failed
    /// The subject was not looked at, and the message says why.
    case skipped
  }

  var group: CheckGroup
  /// The file, address, route or hop that was looked at.
  var subject: String
  var result: Result
  /// The stable name of a warning or failure.
  var code: FindingCode?
  /// What was found, or why the subject was skipped. A warning or failure has the sentence of its
  /// code here.
  var message: String
  /// What shows the problem, in the words of the machine or of the server; nil if the message says
  /// all.
  var cause: String?
  /// What the operator can do; nil where nothing needs to be done.
  var remedy: String?
  /// How many seconds the check took; nil where this number would tell the operator nothing.
  var seconds: Double?

  /// The remedy where this user may not look.
  static let otherUser = "run the doctor as root or as the daemon's user"

  static func passed(
    _ group: CheckGroup, _ subject: String, _ message: String, took: Duration? = nil
  ) -> Finding {
    Finding(
      group: group, subject: subject, result: .passed, message: message,
      seconds: took.map { $0 / .seconds(1) })
  }

  /// A warning or a failure.
  ///
  /// - Parameter remedy: replaces the code's own remedy where more is known.
  static func found(
    _ code: FindingCode, _ subject: String, cause: String?, remedy: String? = nil
  ) -> Finding {
    Finding(
      group: code.group, subject: subject, result: code.isWarning ? .warning : .failed, code: code,
      message: code.sentence, cause: cause, remedy: remedy ?? code.remedy)
  }

  /// - Parameter remedy: what would let the doctor look; nil if nothing is wrong with skipping.
  static func skipped(
    _ group: CheckGroup, _ subject: String, _ why: String, remedy: String? = nil
  ) -> Finding {
    Finding(group: group, subject: subject, result: .skipped, message: why, remedy: remedy)
  }
}

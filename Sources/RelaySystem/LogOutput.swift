import Glibc
package import Logging

/// Where log lines go, and their format.
package enum LogOutput: String, CaseIterable, Sendable {
  /// systemd's journal, with a field for each value.
  case journal
  /// One JSON object a line on standard error.
  case json
  /// Lines for people on standard error.
  case text

  /// systemd's journal if standard error is connected to it, text if standard error is a terminal,
  /// otherwise JSON lines.
  package static func detected() -> LogOutput {
    if isJournal(descriptor: STDERR_FILENO) { return .journal }
    return isatty(STDERR_FILENO) == 1 ? .text : .json
  }

  /// A handler for `LoggingSystem.bootstrap`, which only the composition root calls.
  ///
  /// - Parameter levelHandle: the level of every logger that sets none of its own.
  package func handler(label: String, levelHandle: LogLevelHandle) -> any LogHandler {
    FieldLogHandler(label: label, levelHandle: levelHandle) { line in
      switch self {
      case .journal: SystemdJournal.send(line)
      case .json: StandardError.write(line.json)
      case .text: StandardError.write(line.text)
      }
    }
  }

  /// True if the descriptor is the stream to systemd's journal. `JOURNAL_STREAM` names that
  /// stream's device and inode.
  static func isJournal(descriptor: Int32) -> Bool {
    guard let stream = getenv("JOURNAL_STREAM") else { return false }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    return String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
  }
}

enum StandardError {
  /// Writes each line with one call, so that lines of several threads do not mix.
  static func write(_ line: String) {
    let bytes = Array(line.utf8) + [UInt8(ascii: "\n")]
    // A line that cannot be written is dropped, because there is no other place to report it.
    _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

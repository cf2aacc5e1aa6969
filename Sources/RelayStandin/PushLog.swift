import Foundation

/// `pushes.jsonl`: one line for each request, in the order in which the requests were judged.
///
/// `append` gives each line to the kernel in one write before it returns: a client that has the
/// answer finds the line in the file. A reader may see the beginning of a line while the line is
/// written: a line is complete once its newline is in the file.
final class PushLog: Sendable {
  private let descriptor: Int32
  private let path: String

  init(path: String) throws(StandinError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .files("open", path) }
  }

  deinit { close(descriptor) }

  func append(_ line: String) throws {
    let line = Array(line.utf8)
    let written = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard written == line.count else { throw StandinError.files("write", path) }
  }

  static func time(_ milliseconds: Int64) -> String {
    // The formatter drops fractions of a millisecond. The added half prevents that a rounding error
    // of the division lowers the result by a millisecond.
    Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1_000)
      .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  static func json(_ value: Any) throws -> String {
    let bytes = try JSONSerialization.data(
      withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes])
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension StandinError {
  /// A failed system call on a file, with the system's reason.
  static func files(_ action: String, _ path: String) -> StandinError {
    StandinError(
      code: .files, message: "cannot \(action) \(path): \(String(cString: strerror(errno)))",
      remedy: "choose a directory that this user may write to")
  }
}

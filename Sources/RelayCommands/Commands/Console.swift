import Foundation
import Glibc
import Synchronization

/// Where a command prints: answers to stdout, messages to stderr.
package struct Console: Sendable {
  /// Prints a text to stdout unchanged, line breaks included.
  package var answer: @Sendable (String) -> Void
  package var talk: @Sendable (String) -> Void
  /// Whether answers can still be read: false once the reader of a pipe has gone, or a write has
  /// failed.
  package var isOpen: @Sendable () -> Bool = { true }
  /// Why an answer could not be written; nil if all answers were written, or if their reader has
  /// gone.
  package var fault: @Sendable () -> String? = { nil }
  /// True if answers go to a terminal that shows colours.
  package var isColourful = false
  /// The width of the terminal in columns, or a default if there is no terminal.
  package var columns = Console.columnsDefault
  package static let columnsDefault = 80

  var paint: Paint { Paint(isColourful: isColourful, columns: columns) }

  /// The process's own stdout and stderr, unbuffered.
  package static func standard(_ environment: [String: String]) -> Console {
    let isDumb =
      environment["TERM"] == "dumb" || environment["NO_COLOR"].map { !$0.isEmpty } == true
    let fault = OutputFault()
    var console = Console(
      answer: { fault.note(write($0, to: STDOUT_FILENO)) },
      talk: { _ = write($0, to: STDERR_FILENO) },
      isColourful: isatty(STDOUT_FILENO) == 1 && !isDumb, columns: width(environment))
    console.fault = { fault.code.flatMap { $0 == EPIPE ? nil : String(cString: strerror($0)) } }
    console.isOpen = {
      if fault.code != nil { return false }
      var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
      return poll(&output, 1, 0) <= 0 || Int32(output.revents) & (POLLERR | POLLNVAL) == 0
    }
    return console
  }

  /// The value of COLUMNS, or else the terminal's width; at least `columnsMin`.
  private static func width(_ environment: [String: String]) -> Int {
    var size = winsize()
    let terminal = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_col) : 0
    let width =
      environment["COLUMNS"].flatMap(Int.init) ?? (terminal > 0 ? terminal : columnsDefault)
    return max(columnsMin, width)
  }

  private static let columnsMin = 40

  func answer(line: String) { answer(line + "\n") }
  func talk(line: String) { talk(line + "\n") }

  /// Prints `zonerelay: error: …`, then `zonerelay: hint: …`.
  func report(_ failure: Failure) {
    talk(line: "zonerelay: error: \(Self.withoutStop(failure.message))")
    if let hint = failure.hint { talk(line: "zonerelay: hint: \(Self.withoutStop(hint))") }
  }

  func report(_ bad: BadConfiguration) {
    for problem in bad.problems {
      report(Failure(.badConfiguration, problem.text, hint: problem.remedy))
    }
    let count = bad.problems.count == 1 ? "1 problem" : "\(bad.problems.count) problems"
    talk(line: "zonerelay: error: \(count) in \(bad.file)")
  }

  /// The text without a full stop at its end. The first letter stays as it is: a message may begin
  /// with a name or a path.
  private static func withoutStop(_ text: String) -> String {
    text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  /// - Returns: the code of the error that ended the write; nil if all was written.
  private static func write(_ text: String, to descriptor: Int32) -> Int32? {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno != EINTR { return errno }
      rest = rest.dropFirst(max(0, count))
    }
    return nil
  }

  /// The first error of an output.
  private final class OutputFault: Sendable {
    private let first = Mutex<Int32?>(nil)
    var code: Int32? { first.withLock { $0 } }

    func note(_ code: Int32?) {
      if let code { first.withLock { $0 = $0 ?? code } }
    }
  }
}

/// The usage line of a help text. The argument parser wraps every line but this one.
enum UsageLine {
  private static let head = "USAGE: "

  /// The help with its usage wrapped between options; further lines are indented.
  static func wrapped(in help: String, to columns: Int) -> String {
    help.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.hasPrefix(head) && line.count > columns
        ? wrap(parts(of: line.dropFirst(head.count)), to: columns) : String(line)
    }.joined(separator: "\n")
  }

  /// The parts of the usage line that no line break may divide: a word of the command, an option
  /// with its value, or a bracket with its content.
  private static func parts(of usage: Substring) -> [String] {
    var parts: [String] = []
    for word in usage.split(separator: " ") {
      let isOpen = parts.last.map { last in
        last.count(where: { $0 == "[" }) > last.count(where: { $0 == "]" })
          || (last.hasPrefix("--") && word.hasPrefix("<"))
      }
      if isOpen == true { parts[parts.count - 1] += " " + word } else { parts.append(String(word)) }
    }
    return parts
  }

  private static func wrap(_ parts: [String], to columns: Int) -> String {
    var lines: [String] = []
    for part in parts {
      if let last = lines.last, head.count + last.count + 1 + part.count <= columns {
        lines[lines.count - 1] += " " + part
      } else {
        lines.append(part)
      }
    }
    return head + lines.joined(separator: "\n" + String(repeating: " ", count: head.count))
  }
}

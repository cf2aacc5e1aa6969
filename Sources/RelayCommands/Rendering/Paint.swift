/// Colours for a terminal and plain text elsewhere; and the terminal's width.
struct Paint {
  var isColourful: Bool
  var columns = Console.columnsDefault

  func good(_ text: String) -> String { code("32", text) }
  func bad(_ text: String) -> String { code("31", text) }
  func faint(_ text: String) -> String { code("2", text) }
  func strong(_ text: String) -> String { code("1", text) }

  /// The line with `�` in place of each character that a terminal does not show; the colours of
  /// this type stay. Clients and producers choose names, and a character that turns the direction
  /// of the text could make one name look like another.
  func visible(_ line: String) -> String {
    guard isColourful else { return HumanFormat.line(line) }
    let parts = line.split(separator: "\u{1b}", omittingEmptySubsequences: false)
    return parts.enumerated().map { index, part in
      guard index > 0 else { return HumanFormat.line(String(part)) }
      let end = Self.colours.first { part.hasPrefix($0) }?.count
      let colour = end.map { "\u{1b}\(part.prefix($0))" } ?? "\u{fffd}"
      return colour + HumanFormat.line(String(part.dropFirst(end ?? 0)))
    }.joined()
  }

  private static let colours = ["32", "31", "2", "1", "0"].map { "[\($0)m" }

  private func code(_ number: String, _ text: String) -> String {
    isColourful ? "\u{1b}[\(number)m\(text)\u{1b}[0m" : text
  }
}

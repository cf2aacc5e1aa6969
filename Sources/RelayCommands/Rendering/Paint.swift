/// Colours for a terminal and plain text elsewhere; and the terminal's width.
struct Paint {
  var isColourful: Bool
  var columns = Console.columnsDefault

  func good(_ text: String) -> String { code("32", text) }
  func bad(_ text: String) -> String { code("31", text) }
  func faint(_ text: String) -> String { code("2", text) }
  func strong(_ text: String) -> String { code("1", text) }

  private func code(_ number: String, _ text: String) -> String {
    isColourful ? "\u{1b}[\(number)m\(text)\u{1b}[0m" : text
  }
}

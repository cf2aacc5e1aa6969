/// Lays out rows in columns, each as wide as its widest cell.
enum TextTable {
  /// A column is padded to at most this width, so that one long cell does not widen every row.
  private static let widthMax = 72

  /// The table's lines, without blanks at their ends.
  static func lines(_ rows: [[String]]) -> [String] { lines(rows, widths: widths(rows)) }

  /// The table with as many of the first columns as fit into a line, at least one.
  static func lines(_ rows: [[String]], columns: Int) -> [String] {
    let widths = widths(rows)
    var (count, width) = (0, -2)
    while count < widths.count, count == 0 || width + 2 + widths[count] <= columns {
      width += 2 + widths[count]
      count += 1
    }
    return lines(rows.map { Array($0.prefix(count)) }, widths: widths)
  }

  private static func widths(_ rows: [[String]]) -> [Int] {
    (0..<(rows.map(\.count).max() ?? 0)).map { column in
      min(widthMax, rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0)
    }
  }

  private static func lines(_ rows: [[String]], widths: [Int]) -> [String] {
    rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        line += cell
        guard column + 1 < row.count else { break }
        line += String(repeating: " ", count: max(0, widths[column] - cell.count) + 2)
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

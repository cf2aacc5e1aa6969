/// Lays out rows in columns, each as wide as its widest cell.
enum TextTable {
  /// A column is padded to at most this width, so that one long cell does not widen every row.
  private static let widthMax = 72

  /// The table's lines, without blanks at their ends.
  ///
  /// - Parameter columns: the width of a line. The table shows only the first columns, as many as
  ///   fit into this width, and at least one.
  static func lines(_ rows: [[String]], columns: Int = .max) -> [String] {
    let widths = (0..<(rows.map(\.count).max() ?? 0)).map { column in
      min(widthMax, rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0)
    }
    var (count, width) = (0, -2)
    while count < widths.count, count == 0 || width + 2 + widths[count] <= columns {
      width += 2 + widths[count]
      count += 1
    }
    return rows.map { row in
      let cells = row.prefix(count)
      var line = ""
      for (column, cell) in cells.enumerated() {
        line += cell
        guard column + 1 < cells.count else { break }
        line += String(repeating: " ", count: max(0, widths[column] - cell.count) + 2)
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

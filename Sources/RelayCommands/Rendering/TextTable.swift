/// Columns as wide as their widest cell.
enum TextTable {
  /// No column but the last pads beyond this: one long cell must not push the others away.
  private static let widthMax = 72

  /// Lines without blanks at their ends.
  static func lines(_ rows: [[String]]) -> [String] {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      min(widthMax, rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0)
    }
    return rows.map { row in
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

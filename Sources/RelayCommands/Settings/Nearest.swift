extension String {
  /// The word that this misspelling probably means: a word that begins with the misspelling, or
  /// differs from it in few letters. Returns nil if there is no such word.
  func nearest(of words: [String]) -> String? {
    if count > 1, let longer = words.first(where: { $0.hasPrefix(self) }) { return longer }
    let near = words.min { distance(to: $0) < distance(to: $1) }
    guard let near, distance(to: near) <= max(1, count / 3) else { return nil }
    return near
  }

  /// The least number of letters to change, add, remove or exchange with their neighbour to turn
  /// one word into the other.
  private func distance(to other: String) -> Int {
    let (left, right) = (Array(lowercased()), Array(other.lowercased()))
    var rows = [Array(0...right.count)]
    for (i, a) in left.enumerated() {
      var row = [i + 1]
      for (j, b) in right.enumerated() {
        var least = Swift.min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a == b ? 0 : 1))
        if i > 0, j > 0, a == right[j - 1], left[i - 1] == b {
          least = Swift.min(least, rows[i - 1][j - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[left.count][right.count]
  }
}

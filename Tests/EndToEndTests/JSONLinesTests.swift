import Foundation
import Testing

/// The tests read files that another process goes on writing.
@Suite struct JSONLinesTests {
  @Test func `a JSON line is read only when it is complete`() {
    let text = "{\"a\":1}\n{\"a\":2}\n{\"a\":3}"
    for cut in 0...text.utf8.count {
      let (lines, count) = JSON.finished(Data(text.utf8.prefix(cut)))
      #expect(lines.count == cut / 8 && count == lines.count * 8)
      #expect(lines.map { $0["a"].int } == Array([1, 2, 3].prefix(lines.count)))
    }
  }
}

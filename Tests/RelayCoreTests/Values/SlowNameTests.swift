import Testing

@testable import RelayCore

/// Swift's `==` takes seconds for a long text with thousands of marks on one letter. The core
/// compares the bytes alone.
@Suite struct SlowNameTests {
  private static func fields(_ text: String) -> [Field] {
    [Field(name: text, value: .int64(1)), Field(name: "b", value: .string(text))]
  }

  /// How many times as long `body` takes for the second text as for the first.
  private func ratio(_ texts: [String], _ body: (String) -> Void) -> Double {
    let spans = texts.map { text in
      (0..<3).map { _ in ContinuousClock().measure { body(text) } }.min() ?? .zero
    }
    return spans[1] / max(spans[0], .microseconds(200))
  }

  private static let texts = [
    String(repeating: "a", count: 48_001),
    "a" + String(repeating: "\u{316}\u{301}", count: 12_000),
  ]

  @Test func `slow field names do not delay the search for a record's own time`() {
    let found = ratio(Self.texts) { text in
      let record = RecordChange(verb: .created, name: "r", type: "T", fields: Self.fields(text))
      #expect(record.modified == nil)
    }
    #expect(found < 30)
  }

  @Test func `slow field names do not delay the comparison of two records`() {
    let found = ratio(Self.texts) { text in
      // Copies that share no storage, like those after a recovery.
      let records = (0..<2).map { _ in
        let own = String(decoding: Array(text.utf8), as: UTF8.self)
        return RecordChange(verb: .created, name: "r", type: "T", fields: Self.fields(own))
      }
      #expect(records[0] == records[1])
    }
    #expect(found < 30)
  }

  @Test(arguments: ["production", "Production", "production ", ""])
  func `the relay knows a word only in its exact spelling`(text: String) {
    #expect((Environment(name: text) != nil) == (text == "production"))
    #expect((Spelled(text) == "production") == (text == "production"))
  }
}

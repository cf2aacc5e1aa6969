@testable import RelayCore
import Testing

/// Filters on what CloudKit itself keeps of a record, and on a record as a whole.
@Suite struct SystemFieldMatchTests {
  private static let record = RecordChange(
    verb: .updated, name: "A1", type: "T", tag: "7",
    fields: [
      Field(name: "title", value: .string("Two words")),
      Field(name: "tags", value: .list([.string("third")])),
      Field(name: "count", value: .int64(4)),
      Field(name: SystemField.createdTimestamp.rawValue, value: .timestamp(Sample.start)),
      Field(name: SystemField.createdUserRecordName.rawValue, value: .string("_abc")),
    ])

  private func passes(
    _ field: String, _ comparator: QueryRule.Comparator, _ value: FieldValue,
    _ record: RecordChange = record
  ) -> Bool {
    var reading = ChangeReading(
      Change(
        scope: Sample.scope, database: .private, zone: Sample.zone, event: .record(record),
        time: .zero, notification: Sample.nid(1), fingerprint: 1))
    return QueryRule.Filter(field: field, comparator: comparator, value: value)
      .passes(&reading)
  }

  @Test func `record and user names compare as strings and as references`() {
    for (system, name) in [(SystemField.recordName, "A1"), (.createdUserRecordName, "_abc")] {
      let reference = FieldValue.reference(recordName: name, zone: nil)
      let other = FieldValue.reference(recordName: "B", zone: nil)
      #expect(passes(system.rawValue, .equals, .string(name)))
      #expect(passes(system.rawValue, .equals, reference))
      #expect(passes(system.rawValue, .in, .list([other, reference])))
      #expect(passes(system.rawValue, .notEquals, other))
      #expect(!passes(system.rawValue, .notEquals, reference))
      #expect(!passes(system.rawValue, .equals, .int64(1)))
      #expect(passes(system.rawValue, .beginsWith, .string(String(name.prefix(1)))))
    }
    let elsewhere = ZoneID(name: "History", owner: Sample.owner)
    let recordName = SystemField.recordName.rawValue
    #expect(passes(recordName, .equals, .reference(recordName: "A1", zone: Sample.zone)))
    #expect(!passes(recordName, .equals, .reference(recordName: "A1", zone: elsewhere)))
  }

  @Test func `change tags and times compare, and a missing value never matches`() {
    #expect(passes(SystemField.changeTag.rawValue, .equals, .string("7")))
    let created = SystemField.createdTimestamp.rawValue
    #expect(passes(created, .lessThanOrEquals, .timestamp(Sample.start)))
    #expect(!passes(created, .lessThan, .timestamp(Sample.start)))
    #expect(!passes(SystemField.modifiedTimestamp.rawValue, .notEquals, .timestamp(Sample.start)))
    #expect(!passes(SystemField.modifiedUserRecordName.rawValue, .notEquals, .string("x")))
    var untagged = Self.record
    untagged.tag = nil
    #expect(!passes(SystemField.changeTag.rawValue, .notEquals, .string("7"), untagged))
  }

  @Test func `self searches all texts of the record except system fields`() {
    #expect(passes("self", .containsAllTokens, .string("third TWO")))
    #expect(passes("self", .containsAnyTokens, .string("fourth words")))
    #expect(!passes("self", .containsAllTokens, .string("two fourth")))
    #expect(!passes("self", .containsAnyTokens, .string("abc A1 4 title")))
    #expect(!passes("title", .containsAnyTokens, .string("third")))
    let empty = RecordChange(verb: .updated, name: "A1", type: "T")
    #expect(!passes("self", .containsAnyTokens, .string("a1"), empty))
  }

  @Test func `a token search without words finds nothing`() {
    #expect(!passes("title", .containsAllTokens, .string(" - ")))
    #expect(!FieldValue.string(" - ").hasWords && FieldValue.string("-1").hasWords)
  }
}

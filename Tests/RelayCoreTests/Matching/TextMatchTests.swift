@testable import RelayCore
import Testing

/// Texts compare by their code points. Only token searches treat two spellings as one.
@Suite struct TextMatchTests {
  private static let one = "caf\u{e9}"
  private static let two = "cafe\u{301}"

  private func passes(
    _ comparator: QueryRule.Comparator, _ value: FieldValue, _ found: FieldValue
  ) -> Bool {
    var reading = ChangeReading(
      Change(
        scope: Sample.scope, database: .private, zone: Sample.zone,
        event: .record(
          RecordChange(
            verb: .updated, name: "r", type: "T", fields: [Field(name: "f", value: found)])),
        time: .zero, notification: Sample.nid(1), fingerprint: 1))
    return QueryRule.Filter(field: "f", comparator: comparator, value: value).passes(&reading)
  }

  @Test func `two Unicode spellings of a text are two different texts`() {
    let (one, two) = (FieldValue.string(Self.one), FieldValue.string(Self.two))
    let many = (0..<40).map { FieldValue.string("x\($0)") }
    #expect(Self.one == Self.two)
    #expect(passes(.equals, one, one) && !passes(.equals, one, two))
    #expect(passes(.notEquals, one, two) && !passes(.notEquals, one, one))
    #expect(passes(.in, .list([two, one]), one) && !passes(.in, .list([two]), one))
    #expect(passes(.notIn, .list([two]), one))
    #expect(passes(.beginsWith, .string("cafe"), two) && !passes(.beginsWith, .string("cafe"), one))
    #expect(!passes(.beginsWith, one, .string(Self.two + "s")))
    // By code points, a text begins with its first letter without the combining mark after it.
    #expect(passes(.beginsWith, .string("e"), .string("e\u{301}")))
    for more in [[], many] {
      let list = FieldValue.list(more + [one])
      #expect(passes(.listContains, one, list) && !passes(.listContains, two, list))
      #expect(passes(.notListContains, two, list))
      #expect(passes(.listContainsAny, .list([one, two]), list))
      #expect(!passes(.listContainsAll, .list([one, two]), list))
      #expect(passes(.listMemberBeginsWith, .string("caf"), list))
      #expect(passes(.listMemberBeginsWith, one, list))
      #expect(!passes(.listMemberBeginsWith, two, list))
      #expect(!passes(.listMemberBeginsWith, .string("cafe"), list))
    }
    let reference = FieldValue.reference(recordName: Self.one, zone: nil)
    #expect(!passes(.equals, reference, .reference(recordName: Self.two, zone: nil)))
    #expect(!passes(.equals, .asset(Self.one), .asset(Self.two)))
  }

  @Test func `texts are ordered by their code points`() {
    // A collation would put `é` before `z`, and UTF-16 would put U+1F600 before U+FFEE.
    let order = [
      "", "A", "Z", "a", "cafe", "cafe\u{301}", "caff", "caf\u{e9}", "z", "\u{e9}", "\u{ffee}",
      "\u{1f600}",
    ]
    for (place, left) in order.enumerated() {
      for (other, right) in order.enumerated() {
        #expect(passes(.lessThan, .string(right), .string(left)) == (place < other))
        #expect(passes(.greaterThanOrEquals, .string(right), .string(left)) == (place >= other))
      }
    }
  }

  @Test func `fields and types are identified by the code points of their names`() {
    let record = RecordChange(
      verb: .updated, name: "r", type: Self.one,
      fields: [
        Field(name: Self.two, value: .int64(2)), Field(name: Self.one, value: .int64(1)),
        Field(name: Self.two, value: .int64(3)),
      ])
    #expect(record.value(of: Self.one) == .int64(1) && record.value(of: Self.two) == .int64(2))
    #expect(record.fields.count == 2 && record.value(of: "cafe") == nil)
    for (type, fires) in [(Self.one, true), (Self.two, false)] {
      let subscription = Subscription(
        id: SubscriptionID("s"), database: .private, rule: .query(QueryRule(recordType: type)),
        info: NotificationInfo())
      let change = Change(
        scope: Sample.scope, database: .private, zone: Sample.zone, event: .record(record),
        time: .zero, notification: Sample.nid(1), fingerprint: 1)
      #expect(subscription.fires(for: change) == fires)
    }
  }

  @Test func `subscriptions that differ only in spelling are not duplicates`() {
    func rule(_ text: String) -> Subscription.Rule {
      let filter = QueryRule.Filter(field: "f", comparator: .equals, value: .string(text))
      return .query(QueryRule(recordType: "T", filters: [filter]))
    }
    var rig = PartitionRig()
    rig.save("one", rule(Self.one))
    let other = rig.save("two", rule(Self.two))
    guard case .subscriptions(let answers) = other, case .saved = answers.first else {
      Issue.record("\(other)")
      return
    }
    rig.save("one", rule(Self.one + "!"))
    rig.save("two", rule(Self.one))
    let held = rig.partition.index.all(of: 0).map(\.subscription.rule)
    #expect(held == [rule(Self.one + "!"), rule(Self.one)])
  }

  /// Digits and numbers of any script are parts of words; signs are not.
  @Test func `a word consists of letters and digits of any script`() {
    for word in ["\u{663}\u{664}", "\u{ff17}", "\u{4e03}", "\u{2167}", "\u{bd}", "\u{939}\u{93f}"] {
      #expect(passes(.containsAnyTokens, .string(word), .string("a \(word), b")), "\(word)")
      #expect(!passes(.containsAnyTokens, .string(word), .string("a\(word) \(word)b")), "\(word)")
    }
    for sign in ["\u{20ac}", "\u{2014}", "\u{3001}", "\u{1f600}", "_", "\u{a0}"] {
      #expect(!FieldValue.string(sign).hasWords, "\(sign)")
      #expect(passes(.containsAllTokens, .string("a b"), .string("a\(sign)b")), "\(sign)")
    }
    // The same number in another script is another digit.
    #expect(!passes(.containsAnyTokens, .string("7"), .string("\u{ff17}")))
    #expect(passes(.containsAllTokens, .string(Self.one), .string(Self.two.uppercased())))
  }

  @Test(arguments: [(254, true), (255, true), (256, false)])
  func `a run of more than 255 bytes is not a word`(bytes: Int, isWord: Bool) {
    let run = String(repeating: "a", count: bytes)
    #expect(FieldValue.string(run).hasWords == isWord)
    #expect(passes(.containsAnyTokens, .string(run), .string("x \(run) y")) == isWord)
  }
}

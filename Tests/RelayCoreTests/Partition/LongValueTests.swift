@testable import RelayCore
import Testing

/// A notification shows little of a record's long values, at little cost.
@Suite struct LongValueTests {
  private let rule = Subscription.Rule.query(QueryRule(recordType: "Article"))

  private func push(
    _ fields: [Field], limits: Limits = Limits(), _ build: (inout NotificationInfo) -> Void
  ) -> String {
    var info = NotificationInfo()
    info.alert.bodyKey = "K"
    build(&info)
    var rig = PartitionRig(limits: limits)
    rig.register(1)
    rig.save("s", rule, info)
    rig.change(
      .record(RecordChange(verb: .created, name: "A1", type: "Article", fields: fields)))
    return rig.wake().first?.text ?? "no push"
  }

  private func list(_ count: Int, _ text: String = "x") -> Field {
    Field(name: "list", value: .list(Array(repeating: .string(text), count: count)))
  }

  /// The member `"a":"12345"` has eleven bytes.
  ///
  /// Limit: limits.valueBytesPerNotification
  @Test(arguments: [(10, false), (11, true), (12, true)])
  func `valueBytesPerNotification limits the values of one notification`(bytes: Int, isShown: Bool)
  {
    var limits = Limits()
    limits.valueBytesPerNotification = bytes
    let push = push([Field(name: "a", value: .string("12345"))], limits: limits) {
      $0.desiredKeys = ["a"]
    }
    #expect(push.contains(#""af":{"a":"12345"}"#) == isShown)
    #expect(push.contains(#""p":1"#) != isShown)
  }

  @Test func `a list that is too long is left out`() {
    let short = push([list(3)]) { $0.desiredKeys = ["list"] }
    #expect(short.contains(#""af":{"list":["x","x","x"]}"#))
    for field in [list(50_000), list(50_000, ""), list(2, String(repeating: "x", count: 2_000))] {
      let long = push([field]) { $0.desiredKeys = ["list"] }
      #expect(!long.contains(#""af""#) && long.contains(#""p":1"#))
    }
  }

  /// The member `"list":["",…]` has eight bytes and three for each of twenty texts.
  @Test(arguments: [(67, false), (68, true)])
  func `a list is shown if its text just fits`(bytes: Int, isShown: Bool) {
    var limits = Limits()
    limits.valueBytesPerNotification = bytes
    let push = push([list(20, "")], limits: limits) { $0.desiredKeys = ["list"] }
    #expect(push.contains(#""af":{"list":[""#) == isShown)
    #expect(push.contains(#""p":1"#) != isShown)
  }

  @Test func `an argument shows the beginning of a long list`() {
    let text = push([list(50_000)]) { $0.alert.bodyArguments = ["list"] }
    let shown = Array(repeating: "x", count: 50).joined(separator: ", ").prefix(100)
    #expect(text.contains(#""loc-args":["\#(shown)"#))
    let characters = text.components(between: #""loc-args":[""#, and: #""]"#).count
    #expect(characters == 100)
  }

  /// A character may have any number of marks.
  @Test func `a letter with thousands of combining marks is cut too`() {
    let marked = "a" + String(repeating: "\u{301}", count: 20_000)
    let text = push([Field(name: "a", value: .string(marked))]) { $0.alert.bodyArguments = ["a"] }
    let shown = text.components(between: #""loc-args":[""#, and: #""]"#)
    #expect(shown.unicodeScalars.count == 400)
  }

  /// Earlier, a collapse value of a megabyte was kept for each alert of each device.
  @Test func `a collapse value is cut to the limit of value bytes`() {
    var subscription = Subscription(
      id: SubscriptionID("s"), database: .private, rule: rule, info: NotificationInfo())
    subscription.info.alert.body = "Hello"
    subscription.info.collapseKey = "key"
    for (count, kept) in [(1_023, 1_023), (1_024, 1_024), (1_025, 1_024)] {
      let value = String(repeating: "v", count: count)
      var rig = PartitionRig()
      let change = rig.make(
        .record(
          RecordChange(
            verb: .created, name: "A1", type: "Article",
            fields: [Field(name: "key", value: .string(value))])))
      let key = subscription.alertKey(for: change, limits: Limits())
      #expect(key?.collapse == String(value.prefix(kept)) && key?.subject == key?.collapse)
    }
  }
}

extension String {
  /// The text between `start` and `end`; empty if there is no such text.
  fileprivate func components(between start: String, and end: String) -> Substring {
    guard let from = firstRange(of: start)?.upperBound,
      let to = self[from...].firstRange(of: end)?.lowerBound
    else { return "" }
    return self[from..<to]
  }
}

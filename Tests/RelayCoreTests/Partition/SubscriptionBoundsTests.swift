@testable import RelayCore
import Testing

/// P11: how many subscriptions one user may have, and of how many bytes.
@Suite struct SubscriptionBoundsTests {
  private func rule(_ text: String) -> Subscription.Rule {
    let filter = QueryRule.Filter(field: "f", comparator: .equals, value: .string(text))
    return .query(QueryRule(recordType: "T", filters: [filter]))
  }

  private func bytes(_ text: String) -> Int {
    Subscription(
      id: SubscriptionID("s0"), database: .private, rule: rule(text), info: NotificationInfo()
    ).bytes
  }

  private func isSaved(_ answer: Answer) -> Bool {
    guard case .subscriptions(let answers) = answer, case .saved = answers.first else {
      return false
    }
    return true
  }

  /// Limit: limits.subscriptionsPerUser
  @Test(arguments: [(2, 2), (3, 3), (4, 3)])
  func `a user has at most the allowed number of subscriptions`(asked: Int, kept: Int) {
    var limits = Limits()
    limits.subscriptionsPerUser = 3
    var rig = PartitionRig(limits: limits)
    let answers = (0..<asked).map { rig.save("s\($0)", rule("\($0)")) }
    #expect(answers.filter(isSaved).count == kept)
    #expect(rig.partition.index.all(of: 0).count == kept)
    if asked > kept {
      #expect(
        answers.last
          == .subscriptions([
            .refused(SubscriptionID("s3"), .tooManySubscriptions(max: 3))
          ]))
    }
  }

  /// Two subscriptions under a bound that is one byte short, exact, or one byte larger.
  ///
  /// Limit: limits.subscriptionBytesPerUser
  @Test(arguments: [(-1, false), (0, true), (1, true)])
  func `a user's subscriptions have at most the allowed number of bytes`(spare: Int, isRoom: Bool) {
    var limits = Limits()
    limits.subscriptionBytesPerUser = 2 * bytes("0") + spare
    var rig = PartitionRig(limits: limits)
    #expect(isSaved(rig.save("s0", rule("0"))))
    let second = rig.save("s1", rule("1"))
    #expect(isSaved(second) == isRoom)
    guard !isRoom else {
      #expect(rig.partition.index.bytes(of: 0) == 2 * bytes("0"))
      return
    }
    let refusal = Refusal.tooManySubscriptionBytes(max: limits.subscriptionBytesPerUser)
    #expect(second == .subscriptions([.refused(SubscriptionID("s1"), refusal)]))
    // To save the same subscription again is no change. A subscription that replaces another counts
    // only the difference.
    #expect(isSaved(rig.save("s0", rule("0"))))
    #expect(isSaved(rig.save("s0", rule("00"))))
    #expect(rig.partition.index.bytes(of: 0) == bytes("00"))
  }

  @Test func `a deleted subscription gives its bytes back`() {
    var limits = Limits()
    limits.subscriptionBytesPerUser = bytes("0")
    var rig = PartitionRig(limits: limits)
    #expect(isSaved(rig.save("s0", rule("0"))))
    #expect(!isSaved(rig.save("s0", rule("0000"))))
    #expect(!isSaved(rig.save("s1", rule("1"))))
    rig.step(
      .modify(
        SubscriptionsRequest(
          scope: Sample.scope, user: Sample.owner, database: .private,
          operations: [.delete(SubscriptionID("s0"))])))
    #expect(rig.partition.index.bytes(of: 0) == 0)
    #expect(isSaved(rig.save("s1", rule("1"))))
  }

  /// Earlier, 500,000 empty strings counted nothing and took 36 MB.
  @Test func `short list members and words also count in a subscription's bytes`() {
    func bytes(_ filter: QueryRule.Filter) -> Int {
      Subscription(
        id: SubscriptionID("s"), database: .private,
        rule: .query(QueryRule(recordType: "T", filters: [filter])), info: NotificationInfo()
      ).bytes
    }
    let none = bytes(QueryRule.Filter(field: "f", comparator: .in, value: .list([])))
    let many = bytes(
      QueryRule.Filter(
        field: "f", comparator: .in, value: .list(Array(repeating: .string(""), count: 128))))
    #expect(many - none == 128 * 16)
    let text = String(repeating: "a ", count: 100)
    let equal = bytes(QueryRule.Filter(field: "f", comparator: .equals, value: .string(text)))
    let search = bytes(
      QueryRule.Filter(field: "f", comparator: .containsAnyTokens, value: .string(text)))
    #expect(search - equal == 100 * 16)
    var info = NotificationInfo()
    info.alert.bodyArguments = Array(repeating: "", count: 20)
    info.desiredKeys = ["ab"]
    let shown = Subscription(
      id: SubscriptionID("s"), database: .private, rule: .database(recordType: nil), info: info)
    #expect(shown.bytes == 64 + 1 + 21 * 16 + 2)
  }

  @Test func `a subscription counts the bytes of its zone and of its record type`() {
    func bytes(_ rule: Subscription.Rule) -> Int {
      Subscription(
        id: SubscriptionID("s"), database: .private, rule: rule, info: NotificationInfo()
      ).bytes
    }
    let zone = ZoneID(name: "Notes", owner: UserID("_ab"))
    #expect(bytes(.zone(zone, recordType: nil)) == 64 + 1 + 8)
    #expect(bytes(.zone(zone, recordType: "Article")) == 64 + 1 + 8 + 7)
    #expect(bytes(.database(recordType: "Article")) == 64 + 1 + 7)
    #expect(bytes(.query(QueryRule(recordType: "Article"))) == 64 + 1 + 7)
  }

  @Test func `a recovery counts the bytes of the subscriptions that it finds`() {
    var rig = PartitionRig()
    rig.save("s0", rule("0"))
    var tables = PartitionTables(id: rig.partition.id, cursor: Ordinal(1))
    tables.subscriptions = [
      SubscriptionRow(
        scope: Sample.scope, user: Sample.owner, serial: Sample.position(1),
        subscription: Subscription(
          id: SubscriptionID("s0"), database: .private, rule: rule("0"), info: NotificationInfo()))
    ]
    let recovered = Partition(tables, limits: Limits(), policy: WakePolicy())
    #expect(recovered.index.bytes(of: 0) == rig.partition.index.bytes(of: 0))
  }
}

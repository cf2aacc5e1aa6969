import Testing

@testable import RelayCore

@Suite struct OwnChangeTests {
  /// A device is an installation under one user. Another user's change wakes the device, even if
  /// that change names the same installation.
  @Test(arguments: [("_abc", Int64(1)), ("_def", Int64(0))])
  func `another user's change on the same installation wakes the device`(
    author: String, own: Int64
  ) {
    var rig = PartitionRig()
    rig.step(
      .register(
        Registration(
          scope: Sample.scope, user: Sample.owner, client: Sample.client(1),
          address: Sample.address(1))))
    let subscription = Subscription(
      id: SubscriptionID("d"), database: .private, rule: .database(recordType: nil),
      info: NotificationInfo())
    rig.step(
      .modify(
        SubscriptionsRequest(
          scope: Sample.scope, user: Sample.owner, database: .private,
          operations: [.save(subscription)])))
    var change = rig.make(.record(RecordChange(verb: .created, name: "r", type: "T")))
    change.author = Change.Author(user: UserID(author), client: Sample.client(1))
    rig.step(.change(change))
    #expect(rig.partition.ledger.matched == 1 && rig.partition.ledger.own == own)
  }

  @Test func `a client id mixed twice for the same user is the original id`() {
    let (client, user) = (Sample.client(7), UserID("_def"))
    #expect(client.device(of: Sample.owner, in: Sample.owner) == client)
    let mixed = client.device(of: user, in: Sample.owner)
    #expect(mixed != client && mixed != client.device(of: UserID("_ghi"), in: Sample.owner))
    #expect(mixed.device(of: user, in: Sample.owner) == client)
  }

  /// A feed of another user's zone contains a client id mixed with the name of the device's user.
  /// The store keeps such ids, so every later version must mix ids in the same way.
  @Test func `a client id is mixed in the same way for ever`() {
    let zero = ClientID(Identifier(high: 0, low: 0))
    #expect(
      zero.device(of: UserID("_def"), in: Sample.owner).bits
        == Identifier(high: 0x3314_3d43_8ca0_a545, low: 0x83f6_15e7_6a71_0338))
  }
}

import RelayCore
import Testing

/// P2, P9: two spellings of a text are two names.
@Suite struct ByteOrderedTests {
  private let one = "caf\u{e9}"
  private let two = "cafe\u{301}"

  @Test func `two spellings of a text are two names, although Swift finds them equal`() {
    #expect(one == two)
    #expect(!ByteOrdered.areSame(one, two) && ByteOrdered.areSame(one, one))
    #expect(!ByteOrdered.areSame(one, nil) && ByteOrdered.areSame(nil, nil))
    #expect(UserID(one) != UserID(two) && SubscriptionID(one) != SubscriptionID(two))
    #expect(ZoneID(name: one, owner: Sample.owner) != ZoneID(name: two, owner: Sample.owner))
    #expect(Set([UserID(one), UserID(two), UserID(one)]).count == 2)
  }

  @Test func `one of two spellings of a text precedes the other`() {
    #expect(ByteOrdered.precedes(one, two) != ByteOrdered.precedes(two, one))
    #expect(!ByteOrdered.precedes(one, one) && ByteOrdered.precedes("a", "b"))
    #expect((UserID(one) < UserID(two)) != (UserID(two) < UserID(one)))
  }

  /// An older version confused the two records: when one was written and the other was deleted, the
  /// feed showed the written record as deleted.
  @Test func `a feed keeps apart two records whose names differ in spelling`() {
    var rig = PartitionRig()
    rig.change(.record(.updated, one))
    rig.change(.record(.deleted, two))
    let deltas = rig.fold().feed(.zone(Sample.zone))?.deltas ?? []
    let spelt = deltas.compactMap { delta -> [UInt8]? in
      guard case .record(let name) = delta.subject else { return nil }
      return Array(name.utf8)
    }
    #expect(spelt == [Array(one.utf8), Array(two.utf8)])
  }

  /// An older version confused two zones whose names differ only in spelling: after the revocations
  /// of both, one grant stayed active in the store for ever.
  @Test func `a revocation ends the grant of exactly the zone that it names`() {
    let guest = users(1, inHomeOf: Sample.owner, false)[0]
    let zones = [one, two].map { ZoneID(name: $0, owner: Sample.owner) }
    var rig = PartitionRig()
    for zone in zones { rig.change(.granted(guest), in: zone) }
    rig.change(.revoked(guest), in: zones[1])
    rig.change(.revoked(guest), in: zones[0])
    let grants = rig.fold().grants
    #expect(grants.count == 2 && grants.allSatisfy { !$0.isActive })
  }

  @Test func `a word is found only by its exact spelling in ASCII`() {
    for field in SystemField.allCases {
      #expect(SystemField(spelled: field.rawValue) == field)
      #expect(SystemField(spelled: field.rawValue + "\u{301}") == nil)
      #expect(field.rawValue.utf8.allSatisfy { $0 < 0x80 })
    }
    #expect(SystemField(spelled: "") == nil && SystemField(spelled: "___ETAG") == nil)
  }
}

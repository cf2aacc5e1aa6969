import Testing

@testable import RelayCore

/// A record's list, prepared for filters.
@Suite struct ListReadingTests {
  /// The index keeps a reference without its zone, so the list must be searched without zones too.
  /// If it were not, a change would not find a subscription whose filter names a record of another
  /// zone.
  @Test func `a member is found as it is indexed, also a reference to another zone`() {
    let other = FieldValue.reference(
      recordName: "a", zone: ZoneID(name: "Other", owner: Sample.owner))
    for member in [other, .list([other]), .string("a")] {
      let list = ListReading([member], in: Sample.zone)
      #expect(list.hasMember(indexedAs: member.anchor), "\(member)")
    }
  }
}

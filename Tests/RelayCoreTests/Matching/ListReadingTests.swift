import Testing

@testable import RelayCore

/// A record's list, prepared for filters.
@Suite struct ListReadingTests {
  /// The index leaves the zone of a reference out. Otherwise a change would not find the
  /// subscriptions whose filter names a record of another zone.
  @Test func `a reference to another zone, alone or in a list, is found as it is indexed`() {
    let other = FieldValue.reference(
      recordName: "a", zone: ZoneID(name: "Other", owner: Sample.owner))
    for member in [other, .list([other]), .string("a")] {
      let list = ListReading([member], in: Sample.zone)
      #expect(list.hasMember(indexedAs: member.anchor), "\(member)")
    }
  }
}

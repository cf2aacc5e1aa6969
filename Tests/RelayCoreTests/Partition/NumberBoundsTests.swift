import RelayCore
import Testing

/// The kept state of numbers is bounded. Beyond the bound, pages show a gap that nothing closes.
@Suite struct NumberBoundsTests {
  private var zone: FeedKey.Kind { .zone(Sample.zone) }

  @Test func `a thousand numbers of a zone may be missing`() {
    var rig = PartitionRig()
    rig.numbered(1)
    rig.numbered(1_002)
    #expect(rig.fold().feed(zone)?.gap == nil)
    rig.numbered(1_004)
    #expect(rig.fold().feed(zone)?.gap == true, "one too many: the relay does not wait for it")
    for number in 2...1_001 as ClosedRange<Int64> { rig.numbered(number) }
    #expect(rig.partition.zonesWithGap == 1)
    rig.numbered(1_003)
    #expect(rig.partition.zonesWithGap == 1, "only the end of the zone's life ends it")
    rig.change(.zone(.reset))
    #expect(rig.fold().feed(zone)?.gap == false && rig.partition.zonesWithGap == 0)
  }

  /// Limit: limits.missingPerZone
  @Test(arguments: [(missing: Int64(2), isGap: false), (3, false), (4, true)])
  func `missingPerZone limits the missing numbers that a zone waits for`(
    missing: Int64, isGap: Bool
  ) {
    var limits = Limits()
    limits.missingPerZone = 3
    var rig = PartitionRig(limits: limits)
    rig.numbered(1)
    #expect(rig.numbered(missing + 2) == .accepted)
    #expect(rig.fold().feed(zone)?.gap == (isGap ? true : nil))
    for number in 2...missing + 1 { rig.numbered(number) }
    #expect(rig.isTickDue(after: 60) == false)
    #expect(rig.partition.zonesWithGap == (isGap ? 1 : 0), "it stays though all have come")
    rig.change(.zone(.reset))
    #expect(rig.partition.zonesWithGap == 0)
  }

  @Test func `all number spaces of a zone share the bound of missing numbers`() {
    var rig = PartitionRig()
    for origin in 1...2 as ClosedRange<UInt64> {
      rig.numbered(0, of: origin)
      rig.numbered(501, of: origin)
    }
    #expect(rig.partition.zonesWithGap == 0)
    rig.numbered(0, of: 3)
    rig.numbered(2, of: 3)
    #expect(rig.partition.zonesWithGap == 1)
  }

  @Test func `the largest possible number is accepted`() {
    var rig = PartitionRig()
    rig.numbered(0)
    #expect(rig.numbered(.max) == .accepted)
    #expect(rig.partition.zonesWithGap == 1)
    #expect(rig.numbered(.max, .record(.updated, "B")) == .accepted)
  }

  @Test func `a number missing for a day is forgotten and its gap stays`() {
    var rig = PartitionRig()
    rig.numbered(1)
    rig.numbered(3, .record(.deleted, "A"))
    #expect(rig.isTickDue(after: 30) == true)
    rig.step(.tick)
    rig.now = .s(24 * 3_600)
    rig.numbered(4)
    let numbers = rig.fold().numbers.first?.numbers
    #expect(numbers?.gap == .permanent && numbers?.spaces[0].missing.isEmpty == true)
    rig.numbered(2, .record(.updated, "A"))
    let cut = rig.fold()
    #expect(cut.feed(zone)?.deltas.count == 1, "it is an ordinary change now")
    #expect(cut.feed(zone)?.gap == nil && rig.partition.zonesWithGap == 1)
  }

  /// A number that comes within `missingFor` closes its hole. After that the gap is permanent.
  ///
  /// Limit: limits.missingFor
  @Test(arguments: [(spare: Int64(-1), isGap: false), (0, true), (1, true)])
  func `a late number closes its hole only within missingFor`(spare: Int64, isGap: Bool) {
    var limits = Limits()
    limits.missingFor = .hours(2)
    var rig = PartitionRig(
      missingTwoFor: .hours(2) + Span(milliseconds: spare), limits: limits)
    #expect(rig.numbered(2) == .accepted)
    let numbers = rig.fold().numbers.first?.numbers
    #expect(numbers?.gap == (isGap ? .permanent : SequenceTracker.Gap.none))
    #expect(rig.partition.zonesWithGap == (isGap ? 1 : 0))
  }

  /// Limit: limits.settledPerZone
  @Test(arguments: [(records: Int64(2), isGivenUp: false), (3, false), (4, true)])
  func `settledPerZone limits the records settled above a hole`(records: Int64, isGivenUp: Bool) {
    var limits = Limits()
    limits.settledPerZone = 3
    var rig = PartitionRig(limits: limits)
    rig.numbered(1)
    for number in 3..<3 + records {
      #expect(rig.numbered(number, .record(.updated, "r\(number)")) == .accepted)
    }
    let numbers = rig.fold().numbers.first?.numbers
    #expect(numbers?.spaces[0].settled.count == (isGivenUp ? 0 : Int(records)))
    #expect(numbers?.spaces[0].missing.isEmpty == isGivenUp)
    #expect(rig.partition.zonesWithGap == (isGivenUp ? 1 : 0))
  }

  @Test func `a record below all holes no longer counts as settled above a hole`() {
    var limits = Limits()
    limits.settledPerZone = 3
    var rig = PartitionRig(limits: limits)
    rig.numbered(1)
    rig.numbered(3, .record(.updated, "A"))
    rig.numbered(5, .record(.updated, "B"))
    rig.numbered(6, .record(.updated, "B"))
    rig.numbered(2)
    rig.numbered(7, .record(.updated, "C"))
    rig.numbered(8, .record(.updated, "D"))
    #expect(rig.partition.zonesWithGap == 0, "A is below all holes, and makes room")
    rig.numbered(9, .record(.updated, "E"))
    let numbers = rig.fold().numbers.first?.numbers
    #expect(numbers?.gap == .permanent && numbers?.spaces[0].settled.isEmpty == true)
  }

  /// Limit: limits.sourcesPerZone
  @Test(arguments: [(sources: UInt64(2), oldest: UInt64(1)), (3, 1), (4, 2)])
  func `sourcesPerZone limits the number spaces of one zone`(sources: UInt64, oldest: UInt64) {
    var limits = Limits()
    limits.sourcesPerZone = 3
    var rig = PartitionRig(limits: limits)
    for origin in 1...sources { rig.numbered(1, of: origin) }
    #expect(rig.fold().numbers.first?.numbers.spaces.map(\.origin) == Array(oldest...sources))
    // A known source misses numbers now. A forgotten one begins anew with this number.
    rig.numbered(9, of: 1)
    #expect(rig.isTickDue(after: 30) == (oldest == 1))
  }

  @Test func `the number space unused for the longest time is forgotten`() {
    var limits = Limits()
    limits.sourcesPerZone = 2
    var rig = PartitionRig(limits: limits)
    rig.numbered(1, of: 1)
    rig.numbered(1, of: 2)
    rig.numbered(2, of: 1)
    rig.numbered(1, of: 3)
    let spaces = rig.fold().numbers.first?.numbers.spaces
    #expect(spaces?.map(\.origin) == [1, 3] && rig.partition.zonesWithGap == 0)
    rig.numbered(9, of: 1)
    rig.numbered(2, of: 3)
    rig.numbered(1, of: 4)
    #expect(rig.partition.zonesWithGap == 1, "it had holes that nothing closes now")
  }

  @Test func `a late number closes any part of a hole`() {
    let run = SequenceGaps.Run(first: 10, last: 14, since: .zero)
    var holes = SequenceGaps([SequenceGaps.Run(first: 3, last: 3, since: .zero), run])
    for number in [2, 4, 9, 15] as [Int64] { #expect(holes.close(number) == false) }
    for number in [12, 10, 14, 3] as [Int64] { #expect(holes.close(number) == true) }
    #expect(holes.runs.map(\.first) == [11, 13] && holes.runs.map(\.last) == [11, 13])
    #expect(holes.count == 2 && holes.below(13).count == 1)
    #expect(holes.close(12) == false)
  }
}

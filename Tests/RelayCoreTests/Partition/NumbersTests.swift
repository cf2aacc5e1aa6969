import RelayCore
import Testing

/// The producer's numbers: holes, late numbers, and the gap that pages show.
@Suite struct NumbersTests {
  /// Limit: limits.gapAfter
  @Test(arguments: [(spare: Int64(-1), isGap: false), (0, true), (1, true)])
  func `a number missing for the time of gapAfter makes a gap`(spare: Int64, isGap: Bool) {
    var limits = Limits()
    limits.gapAfter = .minutes(2)
    var rig = PartitionRig(
      missingTwoFor: .minutes(2) + Span(milliseconds: spare), limits: limits)
    #expect(rig.partition.isTickDue(at: rig.now) == isGap)
    rig.step(.tick)
    #expect(rig.fold().feed(.zone(Sample.zone))?.gap == (isGap ? true : nil))
    rig.numbered(2)
    #expect(rig.partition.zonesWithGap == 0, "it ends when the number comes")
  }

  @Test func `a hole open for thirty seconds is a gap until it closes`() {
    var rig = PartitionRig()
    rig.numbered(1)
    rig.numbered(3)
    #expect(rig.fold().feed(.zone(Sample.zone))?.gap == nil)
    #expect(rig.partition.nextTimer == .s(30))
    #expect(rig.isTickDue(after: 29.999) == false)
    #expect(rig.isTickDue(after: 0.001) == true)
    #expect(rig.isTickDue(after: 1) == false, "asked for once")
    #expect(rig.partition.nextTimer == nil)
    rig.step(.tick)
    #expect(rig.last.contains(.dirtied(.feed(Sample.feed))))
    #expect(rig.fold().feed(.zone(Sample.zone))?.gap == true)
    #expect(rig.partition.zonesWithGap == 1)
    rig.numbered(2)
    #expect(rig.fold().feed(.zone(Sample.zone))?.gap == false)
    #expect(rig.partition.zonesWithGap == 0 && rig.partition.nextTimer == nil)
  }

  @Test func `a hole that closes in time never makes a gap`() {
    var rig = PartitionRig()
    for number in [1, 4, 2, 3] as [Int64] { #expect(rig.numbered(number) == .accepted) }
    #expect(rig.isTickDue(after: 60) == false)
    #expect(rig.fold().feed(.zone(Sample.zone))?.gap == nil)
    rig.step(.tick)
    #expect(rig.partition.zonesWithGap == 0, "a tick that finds nothing changes nothing")
  }

  @Test func `a younger hole makes a gap of its own`() {
    var rig = PartitionRig()
    rig.numbered(1)
    rig.numbered(3)
    rig.now = rig.now + .seconds(20)
    rig.numbered(5)
    #expect(rig.isTickDue(after: 10) == true)
    rig.step(.tick)
    rig.numbered(2)
    #expect(rig.partition.zonesWithGap == 0, "4 is missing, but not for long")
    #expect(rig.partition.nextTimer == .s(50))
    #expect(rig.isTickDue(after: 20) == true)
    rig.step(.tick)
    #expect(rig.partition.zonesWithGap == 1)
  }

  @Test func `a late number applies unless a higher number settled its record`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("q", .query(QueryRule(recordType: "Article")))
    rig.numbered(1, .record(.created, "A"))
    rig.numbered(4, .record(.deleted, "A"))
    rig.fold()
    let matched = rig.partition.ledger.matched
    #expect(rig.numbered(2, .record(.updated, "A"), fingerprint: 900) == .accepted)
    #expect(rig.partition.ledger.matched == matched)
    var cut = rig.fold()
    #expect(cut.feed(.zone(Sample.zone)) == nil && cut.outbox.isEmpty)
    #expect(rig.numbered(2, .record(.updated, "A"), fingerprint: 900) == .duplicate)
    rig.numbered(3, .record(.updated, "B"))
    cut = rig.fold()
    #expect(cut.feed(.zone(Sample.zone))?.deltas.map(\.subject) == [.record("B")])
    #expect(rig.partition.ledger.matched == matched + 1)
    #expect(cut.numbers.map(\.numbers.spaces[0].settled) == [[:]], "whole again")
  }

  @Test func `a late number settles its record against lower missing numbers`() {
    var rig = PartitionRig()
    rig.numbered(1)
    rig.numbered(5)
    rig.numbered(3, .record(.updated, "A"))
    rig.fold()
    rig.numbered(2, .record(.updated, "A"))
    #expect(rig.fold().feed(.zone(Sample.zone)) == nil)
  }

  @Test func `each source and each zone has its own number space`() {
    let other = ZoneID(name: "History", owner: Sample.owner)
    var rig = PartitionRig()
    rig.numbered(1)
    rig.numbered(5, of: 8)
    rig.numbered(9, in: other)
    #expect(rig.isTickDue(after: 60) == false)
    rig.numbered(3, .record(.updated, "A"))
    rig.numbered(4, .record(.deleted, "A"), of: 8)
    rig.fold()
    rig.numbered(2, .record(.updated, "A"))
    #expect(rig.fold().feed(.zone(Sample.zone)) == nil, "another source's 4 says nothing of it")
    rig.numbered(3, of: 8)
    rig.numbered(6, of: 8)
    #expect(rig.isTickDue(after: 60) == false)
  }

  @Test func `a lower number that is not missing is a duplicate only by its id`() {
    var rig = PartitionRig()
    rig.numbered(5, fingerprint: 900)
    #expect(rig.numbered(3, fingerprint: 900) == .duplicate)
    #expect(rig.numbered(3, .record(.updated, "B")) == .accepted)
    #expect(rig.numbered(5, .record(.updated, "C")) == .accepted)
    #expect(rig.fold().feed(.zone(Sample.zone))?.deltas.count == 3)
    #expect(rig.isTickDue(after: 60) == false, "before the first number heard nothing is missing")
  }

  @Test func `zone events and shares are numbered too`() {
    let guest = UserID("_def")
    var rig = PartitionRig()
    rig.numbered(1, .zone(.created))
    rig.numbered(4, .revoked(guest))
    #expect(rig.numbered(3, .granted(guest)) == .accepted)
    #expect(rig.fold().grants.isEmpty, "a late grant must not undo its revocation")
    rig.numbered(2, .zone(.created))
    #expect(rig.isTickDue(after: 60) == false)
  }

  @Test func `the end of a zone ends its gap`() {
    for end in [ZoneChange.deleted, .purged, .reset] {
      var rig = PartitionRig()
      rig.numbered(1)
      rig.numbered(3)
      #expect(rig.isTickDue(after: 30) == true)
      rig.step(.tick)
      rig.fold()
      rig.change(.zone(end))
      let cut = rig.fold()
      #expect(cut.feed(.zone(Sample.zone))?.gap == false && rig.partition.zonesWithGap == 0)
      #expect(cut.numbers.map(\.numbers) == [SequenceTracker()])
      rig.numbered(90)
      rig.numbered(91)
      #expect(rig.isTickDue(after: 60) == false)
    }
  }

  @Test func `a late change from before a zone's numbered end is not applied`() {
    var rig = PartitionRig()
    rig.numbered(1)
    rig.numbered(4, .zone(.deleted))
    rig.fold()
    #expect(rig.numbered(3, .record(.created, "A")) == .accepted)
    #expect(rig.fold().feeds.isEmpty)
    rig.numbered(5, .record(.created, "B"))
    rig.numbered(2, .record(.created, "A"))
    #expect(rig.fold().feed(.zone(Sample.zone))?.deltas.map(\.subject) == [.record("B")])
    #expect(rig.isTickDue(after: 60) == false)
  }

  @Test func `holes from before a zone's end are forgotten after a day`() {
    var rig = PartitionRig()
    rig.numbered(1)
    rig.numbered(3, .zone(.deleted))
    #expect(rig.fold().numbers.first?.numbers.outlived?.holes.count == 1)
    #expect(rig.isTickDue(after: 24 * 3_600) == true)
    rig.step(.tick)
    #expect(rig.fold().numbers.map(\.numbers) == [SequenceTracker()])
    #expect(rig.partition.nextTimer == nil)
  }

  @Test func `a producer may restart its numbers after a zone's end`() {
    var rig = PartitionRig()
    rig.numbered(1)
    rig.numbered(4, .zone(.reset))
    rig.numbered(1, .record(.created, "A"))
    rig.numbered(2, .record(.created, "B"))
    #expect(rig.fold().feed(.zone(Sample.zone))?.deltas.count == 2)
    rig.numbered(4, .record(.created, "C"))
    #expect(rig.isTickDue(after: 30) == true, "3 is missing")
  }

  @Test func `numbers continue after a numbered zone end`() {
    var rig = PartitionRig()
    rig.numbered(1)
    rig.numbered(2, .zone(.reset))
    rig.numbered(5, .record(.deleted, "A"))
    rig.fold()
    rig.numbered(3, .record(.created, "A"))
    #expect(rig.fold().feed(.zone(Sample.zone)) == nil)
    #expect(rig.isTickDue(after: 30) == true, "4 is missing")
  }

  @Test func `a late zone end leaves no number missing`() {
    var rig = PartitionRig()
    rig.numbered(1)
    rig.numbered(6)
    rig.numbered(3, .zone(.purged))
    rig.numbered(4, .record(.created, "A"))
    rig.numbered(7, .record(.created, "B"))
    #expect(rig.isTickDue(after: 60) == false)
    #expect(rig.fold().feed(.zone(Sample.zone))?.deltas.count == 2)
  }

  @Test func `a change without a number is not tracked`() {
    var rig = PartitionRig()
    rig.change(.record(.created))
    #expect(rig.fold().numbers.isEmpty)
  }

  @Test func `the default zone and the public database have numbers without a feed`() {
    let defaultZone = ZoneID(name: ZoneID.defaultName, owner: Sample.owner)
    var rig = PartitionRig()
    rig.numbered(1, in: defaultZone)
    rig.numbered(3, in: defaultZone)
    #expect(rig.isTickDue(after: 30) == true)
    rig.step(.tick)
    #expect(rig.partition.zonesWithGap == 1 && rig.fold().feeds.isEmpty)

    var commons = PartitionRig(ZoneID.publicDefault.owner)
    let key = Interest.Key(scope: Sample.scope, database: .public, recordType: "Article")
    commons.hear(.interests([Interest(key: key, fields: .all)]), 1)
    for (number, count) in [(1, 1), (3, 2), (2, 2)] as [(Int64, Int)] {
      commons.numbered(number, .record(.updated, "A"), in: .publicDefault, .public)
      #expect(commons.partition.cutting().outbox.count == count)
    }
  }
}

extension Sample {
  static let feed = FeedKey(scope: scope, kind: .zone(zone))
}

extension Partition {
  /// What a cut would hold now.
  func cutting() -> PartitionCut {
    var copy = self
    return copy.cut()
  }
}

extension PartitionRig {
  /// A partition that received the numbers 1 and 3 of `Sample.zone`, and then waited for `time`.
  init(missingTwoFor time: Span, limits: Limits) {
    self.init(limits: limits)
    numbered(1)
    numbered(3)
    now = now + time
  }

  /// Steps a change that its producer numbered.
  @discardableResult
  mutating func numbered(
    _ number: Int64, _ event: Change.Event? = nil, in zone: ZoneID = Sample.zone,
    _ database: Database = .private, of origin: UInt64 = 7, fingerprint: UInt64? = nil
  ) -> Answer {
    var change = make(
      event ?? .record(.updated, "r\(number)"), in: zone, database, fingerprint: fingerprint)
    change.sequence = number
    change.origin = origin
    return step(.change(change))
  }

  mutating func isTickDue(after seconds: Double) -> Bool {
    now = now + Span(milliseconds: Int64(seconds * 1_000))
    return partition.isTickDue(at: now)
  }
}

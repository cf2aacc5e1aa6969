import Testing

@testable import RelayCore

/// A store copied back from an earlier day, and tokens of a life that it does not know (P10).
@Suite struct RestoreTests {
  private let feed = FeedKey(scope: Sample.scope, kind: .zone(Sample.zone))

  private func lost(since ordinal: UInt64) -> Fact {
    .lostHistory(feed, since: Sample.position(ordinal))
  }

  /// With a higher floor, each token of a lost life would expire the new tokens of all readers who
  /// had just begun anew.
  @Test func `the floor rises to the end of the lost history and no higher`() {
    var rig = PartitionRig()
    for name in ["a", "b", "c"] { rig.change(.record(.created, name)) }
    rig.step(lost(since: 2))
    #expect(rig.fold().feed(feed.kind)?.floor == Sample.position(2))
    rig.step(lost(since: 2))
    #expect(rig.fold().feed(feed.kind)?.floor == Sample.position(2))
  }

  /// A wider expiry replaces the narrower ones that a store keeps for empty feeds.
  @Test func `an expiry covers another if each of its fields is missing or the same`() {
    let all: [TokenExpiry] = [nil, "a", "b"].flatMap { container in
      [nil, .development, .production].flatMap { environment in
        [nil, UserID("_u"), UserID("_v")].map {
          TokenExpiry(container: container, environment: environment, user: $0)
        }
      }
    }
    for one in all {
      for other in all {
        let means = [
          one.container == nil || one.container == other.container,
          one.environment == nil || one.environment == other.environment,
          one.user == nil || one.user == other.user,
        ]
        #expect(one.covers(other) == !means.contains(false), "\(one), \(other)")
      }
    }
  }

  @Test func `the highest of several floors in one cut holds`() {
    var rig = PartitionRig()
    for name in ["a", "b", "c"] { rig.change(.record(.created, name)) }
    for since in [3, 2] as [UInt64] { rig.step(lost(since: since)) }
    #expect(rig.fold().feed(feed.kind)?.floor == Sample.position(3))
  }

  @Test func `a restore is proven until all tokens expire, and is not proven again`() {
    var rig = PartitionRig()
    rig.change(.record(.created))
    rig.step(lost(since: 1))
    #expect(rig.partition.expiries.isRestoreProven)
    var census = Census()
    rig.partition.count(into: &census, at: rig.now)
    #expect(census.isRestoreProven)
    #expect(rig.fold().isRestoreProven == true)
    rig.step(.expireTokens(TokenExpiry(user: Sample.owner)))
    #expect(rig.partition.expiries.isRestoreProven, "those of one user are not all")
    rig.step(.expireTokens(TokenExpiry()))
    #expect(!rig.partition.expiries.isRestoreProven)
    #expect(rig.fold().isRestoreProven == false)
    rig.step(lost(since: 1))
    #expect(!rig.partition.expiries.isRestoreProven)
    #expect(rig.fold().isRestoreProven == nil)
  }

  @Test func `a restore after an expiry of all tokens is proven anew`() {
    var rig = PartitionRig()
    rig.step(.expireTokens(TokenExpiry()))
    rig.step(lost(since: rig.ordinal))
    #expect(
      !rig.partition.expiries.isRestoreProven,
      "it was expired with the first fact after the restore")
    rig.step(lost(since: rig.ordinal))
    #expect(rig.partition.expiries.isRestoreProven)
  }

  @Test func `the next life of a partition knows the last expiry of all tokens`() {
    let id = feed.partition
    var tables = PartitionTables(id: id, cursor: Ordinal(9))
    tables.expired = Sample.position(5)
    var partition = Partition(tables, limits: Limits(), policy: WakePolicy())
    var effects: [Effect] = []
    partition.step(lost(since: 5), ordinal: Ordinal(10), at: Sample.start, into: &effects)
    #expect(!partition.expiries.isRestoreProven)
    partition.step(lost(since: 6), ordinal: Ordinal(11), at: Sample.start, into: &effects)
    #expect(partition.expiries.isRestoreProven)
  }
}

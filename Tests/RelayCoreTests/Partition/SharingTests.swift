@testable import RelayCore
import Testing

/// P9 and the journey of a shared zone: grants, revocations, ends and new lives.
@Suite struct SharingTests {
  private let everything = Subscription.Rule.database(recordType: nil)
  private let guest = users(1, inHomeOf: Sample.owner, false)[0]

  private func outbox(_ cut: PartitionCut) -> [Change.Event] {
    cut.outbox.compactMap { row in
      guard case .change(let change, _) = row.message else { return nil }
      return change.event
    }
  }

  @Test func aGrantARevocationAndARegrantTravelInOneStream() {
    var rig = PartitionRig()
    rig.change(.record(.created))
    rig.change(.granted(guest))
    rig.change(.record(.updated))
    rig.change(.revoked(guest))
    rig.change(.record(.updated))
    rig.change(.revoked(guest))
    rig.change(.granted(guest))
    let cut = rig.fold()
    #expect(
      outbox(cut) == [.granted(guest), .record(.updated), .revoked(guest), .granted(guest)])
    #expect(cut.outbox.map(\.key.serial.ordinal.number) == [2, 3, 4, 7])
    let target = PartitionID.home(of: guest, in: Sample.scope)
    #expect(cut.outbox.allSatisfy { $0.key.target == target })
    #expect(cut.grants.map(\.isActive) == [true])
    #expect(cut.grants.map(\.floor) == [Sample.position(7)])
  }

  /// P9: a second revocation, or the zone's end, was answered while the first was on its way.
  @Test func whatEndsAnEntitlementIsAnsweredNoSoonerThanItHolds() {
    var rig = PartitionRig()
    var moments: [Answer.Moment] = []
    for event in [Change.Event.granted(guest), .revoked(guest), .revoked(guest), .zone(.deleted)] {
      rig.change(event)
      if case .answer(_, _, _, let moment)? = rig.last.last { moments.append(moment) }
    }
    #expect(moments == [.settled, .settled, .caughtUp, .caughtUp])
  }

  @Test func aParticipantHearsFromTheGrantToTheRevocation() {
    var rig = PartitionRig(guest)
    rig.register(1, of: guest)
    rig.save("all", everything, .shared, of: guest)
    rig.hear(.change(rig.make(.record(.updated)), at: Sample.position(1)), 1)
    #expect(rig.partition.ledger.matched == 0, "not a participant yet")
    rig.hear(.change(rig.make(.granted(guest)), at: Sample.position(2)), 2)
    rig.hear(.change(rig.make(.record(.updated)), at: Sample.position(3)), 3)
    #expect(rig.partition.ledger.matched == 2 && rig.partition.ledger.merged == 1)
    rig.hear(.change(rig.make(.revoked(guest)), at: Sample.position(4)), 4)
    #expect(rig.partition.ledger.withdrawn == 1)
    rig.hear(.change(rig.make(.record(.updated)), at: Sample.position(5)), 5)
    #expect(rig.partition.ledger.matched == 3, "told of the end, and of nothing after it")
    let cut = rig.fold()
    let entry = cut.feed(.database(guest, .shared))?.deltas.first.map {
      Fold.fold(nil, $0.delta, subject: $0.subject)
    }
    #expect(entry?.life.state == .deleted)
    #expect(cut.members.isEmpty && cut.membersRemoved.map(\.participant) == [guest])
  }

  /// Seed 33: a participant was shown a zone that nobody could read.
  @Test func aShareOfAZoneNeverHeardOfBeginsItsLife() {
    var rig = PartitionRig()
    rig.change(.granted(guest))
    rig.change(.granted(guest))
    let deltas = rig.fold().feed(.database(Sample.owner, .private))?.deltas
    #expect(deltas?.map(\.subject) == [.zone(Sample.zone)])
    #expect(deltas?.first?.delta.last.position == Sample.position(1))
  }

  @Test func aRepeatedForwardIsDropped() {
    var rig = PartitionRig(guest)
    rig.register(1, of: guest)
    rig.save("all", everything, .shared, of: guest)
    rig.hear(.change(rig.make(.granted(guest)), at: Sample.position(2)), 2)
    let change = rig.make(.record(.updated))
    for _ in 0..<3 { rig.hear(.change(change, at: Sample.position(3)), 3) }
    rig.hear(.change(change, at: Sample.position(2)), 2)
    #expect(rig.partition.ledger.matched == 2)
    #expect(rig.fold().heard.map(\.serial) == [Sample.position(3)])
  }

  /// The owner needs no grant: one would give an owner two entries at one place.
  @Test func aGrantToTheOwnerChangesNothing() {
    var rig = PartitionRig()
    rig.save("all", everything, .shared)
    #expect(rig.change(.granted(Sample.owner)) == .accepted)
    rig.change(.record(.updated))
    #expect(rig.change(.revoked(Sample.owner)) == .accepted)
    let cut = rig.fold()
    #expect(cut.grants.isEmpty && cut.members.isEmpty && cut.outbox.isEmpty)
    #expect(cut.feed(.database(Sample.owner, .shared)) == nil)
  }

  @Test func theEndOfAZoneClearsItsFeedAndEndsItsGrantsAndZoneSubscriptions() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("zone", .zone(Sample.zone, recordType: nil))
    rig.save("all", everything)
    rig.change(.record(.created))
    rig.change(.granted(guest))
    rig.fold()
    rig.change(.zone(.deleted))
    #expect(rig.partition.ledger.withdrawn == 1 && rig.partition.ledger.isBalanced)
    rig.change(.record(.created, "B2"))
    let cut = rig.fold()
    let zone = cut.feed(.zone(Sample.zone))
    #expect(zone?.cleared == Sample.position(6) && zone?.floor == Sample.position(6))
    #expect(zone?.deltas.map(\.subject) == [.record("B2")])
    #expect(cut.subscriptionsRemoved.map(\.id.name) == ["zone"])
    #expect(cut.grants.map(\.isActive) == [false])
    #expect(outbox(cut) == [.zone(.deleted)], "the new life is the owner's alone")
    let database = cut.feed(.database(Sample.owner, .private))?.deltas.first?.delta
    #expect(database?.last.outcome == .present && database?.rest?.rebirth != nil)
  }

  /// Interned ids are freed with their last user.
  @Test func anOwnerOfWhomNothingIsLeftIsForgotten() {
    var rig = PartitionRig()
    rig.save("zone", .zone(Sample.zone, recordType: nil))
    rig.change(.zone(.deleted))
    #expect(rig.partition.users.find(Sample.owner, in: Sample.scope) == nil)
  }

  /// P9: answered only when it holds for every participant, however many slices a change takes.
  @Test func aZonesEndReachesAllParticipantsAtOnceAndARegrantOutlivesIt() {
    var limits = Limits()
    limits.fanOutSlice = 2
    let guests = users(5, inHomeOf: guest, true)
    var rig = PartitionRig(guest, limits: limits)
    for (index, user) in guests.enumerated() {
      rig.register(UInt64(index + 1), of: user)
      rig.save("all", everything, .shared, of: user)
      rig.hear(.change(rig.make(.granted(user)), at: Sample.position(1)), UInt64(index + 1))
    }
    rig.fold()
    rig.hear(.change(rig.make(.record(.updated)), at: Sample.position(8)), 8)
    let slices = rig.last.compactMap { effect -> Fact? in
      guard case .journal(_, let fact) = effect else { return nil }
      return fact
    }
    #expect(slices.count == 1)
    rig.hear(.change(rig.make(.zone(.deleted)), at: Sample.position(9)), 9)
    #expect(rig.partition.members.isEmpty)
    rig.hear(.change(rig.make(.granted(guests[4])), at: Sample.position(10)), 10)
    for fact in slices { rig.step(fact) }
    #expect(rig.partition.members.count == 1 && rig.partition.unfinished.isEmpty)
    #expect(rig.fold().members.map(\.key.participant) == [guests[4]])
    #expect(rig.partition.ledger.isBalanced)
  }
}

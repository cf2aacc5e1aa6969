@testable import RelayCore
import Testing

/// P9 and the life of a shared zone: grants, revocations, ends and new lives.
@Suite struct SharingTests {
  private let everything = Subscription.Rule.database(recordType: nil)
  private let guest = users(1, inHomeOf: Sample.owner, false)[0]

  private func outbox(_ cut: PartitionCut) -> [Change.Event] {
    cut.outbox.compactMap { row in
      guard case .change(let change, _) = row.message else { return nil }
      return change.event
    }
  }

  @Test func `a grant, its revocation and a new grant leave in one ordered stream`() {
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
    #expect(cut.grants.map(\.floor) == [Sample.position(4)], "no token from before it reads on")
  }

  /// P9: until the fold, the rows do not show the grant or the revocation.
  @Test func `readers of a zone wait until its grants and revocations are folded`() {
    var rig = PartitionRig()
    let zone = Effect.dirtied(.feed(FeedKey(scope: Sample.scope, kind: .zone(Sample.zone))))
    for event in [Change.Event.granted(guest), .revoked(guest)] {
      rig.change(event)
      #expect(rig.last.contains(zone), "\(event)")
    }
  }

  /// P9: earlier, a second revocation or the zone's end was answered before the first revocation
  /// arrived.
  @Test func `the end of an entitlement is answered only after it takes effect`() {
    var rig = PartitionRig()
    var moments: [Answer.Moment] = []
    for event in [Change.Event.granted(guest), .revoked(guest), .revoked(guest), .zone(.deleted)] {
      rig.change(event)
      if case .answer(_, _, _, let moment)? = rig.last.last { moments.append(moment) }
    }
    #expect(moments == [.settled, .settled, .caughtUp, .caughtUp])
  }

  /// P9: a producer without an answer sends the change again, while the first change is on its way.
  @Test func `a repeated end of an entitlement is answered only after it takes effect`() {
    var rig = PartitionRig()
    var answers: [Answer] = []
    var moments: [Answer.Moment] = []
    for event in [Change.Event.granted(guest), .record(.created), .revoked(guest), .zone(.deleted)]
    {
      let change = rig.make(event)
      rig.step(.change(change))
      answers.append(rig.step(.change(change)))
      if case .answer(_, _, _, let moment)? = rig.last.last { moments.append(moment) }
    }
    #expect(answers == [.duplicate, .duplicate, .duplicate, .duplicate])
    #expect(moments == [.stepped, .stepped, .caughtUp, .caughtUp])
  }

  /// Earlier, a user whose grant was revoked was kept for ever, with a row in the tables.
  @Test func `a zone keeps the position of its last revocation, and no revoked user`() {
    var rig = PartitionRig()
    let guests = users(50, inHomeOf: Sample.owner, false)
    for guest in guests {
      rig.change(.granted(guest))
      rig.change(.revoked(guest))
    }
    let key = ZoneKey(scope: Sample.scope, zone: Sample.zone)
    #expect(rig.partition.sharing.knows(key) && rig.partition.sharing.partitions(of: key).isEmpty)
    let cut = rig.fold()
    #expect(cut.grants.count == 50 && cut.grants.allSatisfy { !$0.isActive })
    #expect(cut.revocations.map(\.last) == [Sample.position(100)])
    rig.change(.granted(guests[7]))
    #expect(rig.fold().grants.map(\.floor) == [Sample.position(100)])
    rig.change(.zone(.deleted))
    #expect(!rig.partition.sharing.knows(key), "its feed was cleared: all its tokens have expired")
    #expect(rig.fold().revocations.map(\.last) == [.zero])
    rig.change(.granted(guests[7]))
    #expect(rig.fold().grants.map(\.floor) == [.zero])
  }

  /// The next life reads the revocation from the tables.
  @Test func `a partition remembers a revocation across a restart`() {
    var rig = PartitionRig()
    rig.change(.granted(guest))
    rig.change(.revoked(guest))
    let cut = rig.fold()
    var tables = PartitionTables(id: rig.partition.id, cursor: cut.cursor)
    tables.revocations = cut.revocations
    rig.partition = Partition(tables, limits: Limits(), policy: WakePolicy())
    rig.change(.granted(guest))
    #expect(rig.fold().grants.map(\.floor) == [Sample.position(2)])
  }

  /// A revoked participant can come back only while the zone has room.
  ///
  /// Limit: limits.participantsPerZone
  @Test func `a revoked participant comes back only while the zone has room`() {
    var limits = Limits()
    limits.participantsPerZone = 2
    var rig = PartitionRig(limits: limits)
    let guests = users(3, inHomeOf: Sample.owner, false)
    #expect(rig.change(.granted(guests[0])) == .accepted, "limit - 1")
    #expect(rig.change(.granted(guests[1])) == .accepted, "limit")
    #expect(rig.change(.granted(guests[2])) == .refused(.tooManyParticipants(max: 2)))
    #expect(rig.change(.granted(guests[1])) == .accepted, "who takes part already needs no room")
    rig.change(.revoked(guests[0]))
    #expect(rig.change(.granted(guests[2])) == .accepted)
    #expect(rig.change(.granted(guests[0])) == .refused(.tooManyParticipants(max: 2)))
    rig.change(.revoked(guests[1]))
    #expect(rig.change(.granted(guests[0])) == .accepted)
    #expect(rig.fold().grants.filter(\.isActive).map(\.participant).count == 2)
  }

  @Test func `a repeated grant is a duplicate although the zone is now full`() {
    var limits = Limits()
    limits.participantsPerZone = 1
    var rig = PartitionRig(limits: limits)
    let first = rig.make(.granted(UserID("_u1")))
    #expect(rig.step(.change(first)) == .accepted)
    rig.change(.revoked(UserID("_u1")))
    rig.change(.granted(UserID("_u2")))
    #expect(rig.step(.change(first)) == .duplicate)
  }

  @Test func `a partition forgets a user with nothing left`() {
    var rig = PartitionRig(guest)
    func isKnown(_ rig: PartitionRig) -> Bool {
      rig.partition.users.find(guest, in: Sample.scope) != nil
    }
    rig.hear(.change(rig.make(.granted(guest)), at: Sample.position(1)), 1)
    rig.save("all", everything, .shared, of: guest)
    rig.register(1, of: guest)
    rig.hear(.change(rig.make(.revoked(guest)), at: Sample.position(2)), 2)
    #expect(isKnown(rig), "a subscription and a device are left")
    rig.step(
      .modify(
        SubscriptionsRequest(
          scope: Sample.scope, user: guest, database: .shared,
          operations: [.delete(SubscriptionID("all"))])))
    #expect(isKnown(rig), "a device is left")
    rig.step(
      .unregister(
        Unregistration(scope: Sample.scope, user: guest, device: .client(Sample.client(1)))))
    #expect(!isKnown(rig))
    rig.save("all", everything, .shared, of: guest)
    rig.hear(.change(rig.make(.granted(guest)), at: Sample.position(3)), 3)
    rig.step(
      .modify(
        SubscriptionsRequest(
          scope: Sample.scope, user: guest, database: .shared,
          operations: [.delete(SubscriptionID("all"))])))
    #expect(isKnown(rig), "it takes part in a zone")
    rig.hear(.change(rig.make(.zone(.deleted)), at: Sample.position(4)), 4)
    #expect(!isKnown(rig))
  }

  @Test func `a participant is notified from the grant until the revocation`() {
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

  /// Seed 33: earlier, a participant was shown a zone that no reader could read.
  @Test func `a grant for an unknown zone begins the zone's life`() {
    var rig = PartitionRig()
    rig.change(.granted(guest))
    rig.change(.granted(guest))
    let deltas = rig.fold().feed(.database(Sample.owner, .private))?.deltas
    #expect(deltas?.map(\.subject) == [.zone(Sample.zone)])
    #expect(deltas?.first?.delta.last.position == Sample.position(1))
  }

  @Test func `a repeated forwarded message is dropped`() {
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

  /// Messages about different zones may pass each other, and repeats of both are dropped.
  @Test func `a forwarded message that others overtook is not dropped as a repeat`() {
    var rig = PartitionRig(guest)
    rig.register(1, of: guest)
    rig.save("all", everything, .shared, of: guest)
    let messages = (1...20).map { number in
      let zone = ZoneID(name: "Z\(number)", owner: Sample.owner)
      return Forwarded.Message.change(
        rig.make(.granted(guest), in: zone), at: Sample.position(1))
    }
    let byTrack = Dictionary(messages.map { (Track(of: $0), $0) }) { first, _ in first }
    #expect(byTrack.count > 5 && byTrack[.common] == nil)
    // The messages come in the reverse of the order in which they were sent.
    for (place, item) in byTrack.enumerated() {
      let serial = item.key.serial(Ordinal(UInt64(100 - place)), index: 0)
      for _ in 0..<2 {
        rig.step(
          .forwarded(Forwarded(source: PartitionID(5), serial: serial, message: item.value)))
      }
    }
    #expect(rig.partition.ledger.matched == byTrack.count)
    let cut = rig.fold()
    #expect(cut.feed(.database(guest, .shared))?.deltas.count == byTrack.count)
    #expect(cut.heard.count == byTrack.count)
  }

  /// The owner is entitled without a grant. As a participant, the owner would get every
  /// notification twice.
  @Test func `a grant to the zone's owner changes nothing`() {
    var rig = PartitionRig()
    rig.save("all", everything, .shared)
    #expect(rig.change(.granted(Sample.owner)) == .accepted)
    rig.change(.record(.updated))
    #expect(rig.change(.revoked(Sample.owner)) == .accepted)
    let cut = rig.fold()
    #expect(cut.grants.isEmpty && cut.members.isEmpty && cut.outbox.isEmpty)
    #expect(cut.feed(.database(Sample.owner, .shared)) == nil)
  }

  @Test func `a zone's end clears its feed and ends its grants and zone subscriptions`() {
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
    #expect(cut.revocations.isEmpty, "no grant of it had ended before")
    let zone = cut.feed(.zone(Sample.zone))
    #expect(zone?.cleared == Sample.position(6) && zone?.floor == Sample.position(6))
    #expect(zone?.deltas.map(\.subject) == [.record("B2")])
    #expect(cut.subscriptionsRemoved.map(\.id.name) == ["zone"])
    #expect(cut.grants.map(\.isActive) == [false])
    #expect(outbox(cut) == [.zone(.deleted)], "the new life is the owner's alone")
    let database = cut.feed(.database(Sample.owner, .private))?.deltas.first?.delta
    #expect(database?.last.outcome == .present && database?.rest?.rebirth != nil)
  }

  /// The interned id of an owner is freed when nothing of that owner is left.
  @Test func `a partition forgets an owner with nothing left`() {
    var rig = PartitionRig()
    rig.save("zone", .zone(Sample.zone, recordType: nil))
    rig.change(.zone(.deleted))
    #expect(rig.partition.users.find(Sample.owner, in: Sample.scope) == nil)
  }

  /// P11: a partition forgets a user when it has nothing else of that user.
  @Test func `a partition forgets a user when the last subscription or share ends`() {
    let once = Subscription.Rule.query(QueryRule(recordType: "Article", firesOnce: true))
    func delete(_ rig: inout PartitionRig, _ user: UserID) {
      rig.step(
        .modify(
          SubscriptionsRequest(
            scope: Sample.scope, user: user, database: .private,
            operations: [.delete(SubscriptionID("s"))])))
    }
    func isForgotten(_ user: UserID = guest, _ act: (inout PartitionRig) -> Void) -> Bool {
      var rig = PartitionRig(user)
      act(&rig)
      return rig.partition.users.find(user, in: Sample.scope) == nil
    }
    #expect(isForgotten { delete(&$0, guest) }, "it asked in vain")
    #expect(
      isForgotten {
        $0.save("s", everything, of: guest)
        delete(&$0, guest)
      }, "a subscription")
    #expect(
      isForgotten {
        $0.hear(.change($0.make(.granted(guest)), at: Sample.position(1)), 1)
        $0.hear(.change($0.make(.revoked(guest)), at: Sample.position(2)), 2)
      }, "a share")
    #expect(
      isForgotten(Sample.owner) {
        $0.save("s", once)
        $0.change(.record(.created))
      }, "a subscription that fires once")
    #expect(
      isForgotten {
        $0.save("s", once, .public, of: guest)
        let change = $0.make(.record(.created), in: .publicDefault, .public)
        $0.hear(.change(change, at: Sample.position(1)), 1)
      }, "the same, in the public database")
  }

  /// P9: a zone's end is answered when the end holds for all participants, in however many slices.
  @Test func `a zone's end reaches all participants at once and spares a later grant`() {
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
    #expect(rig.partition.sharing.sharedZones == 0)
    rig.hear(.change(rig.make(.granted(guests[4])), at: Sample.position(10)), 10)
    for fact in slices { rig.step(fact) }
    #expect(rig.partition.sharing.sharedZones == 1 && rig.partition.unfinished.isEmpty)
    #expect(rig.fold().members.map(\.key.participant) == [guests[4]])
    #expect(rig.partition.ledger.isBalanced)
  }
}

import Testing

@testable import RelayCore

/// Why a change does not concern a device, why the device is not told of the change any more, and
/// which changes cannot be explained.
@Suite struct AbsenceTests {
  @Test func `the device's own change wakes the user's other devices only`() {
    var rig = TraceRig.subscribed()
    rig.register(2)
    let change = rig.change(by: TraceRig.own)
    #expect(rig.why(change) == "own_change")
    let other = DeviceKey(scope: Sample.scope, user: Sample.owner, client: Sample.client(2))
    #expect(rig.why(change, other) == "gathering")
  }

  @Test func `a change in another zone or database finds no subscription`() {
    var rig = TraceRig.subscribed()
    #expect(
      rig.why(rig.change(in: ZoneID(name: "Other", owner: Sample.owner))) == "no_subscription")
    #expect(rig.why(rig.change(in: .publicDefault, .public)) == "no_subscription")
  }

  @Test func `a filter and a list of events that exclude the change are named`() {
    var rig = TraceRig()
    rig.register()
    rig.save("made", .query(QueryRule(recordType: "Article", firesOn: .create)))
    let filter = QueryRule.Filter(field: "k", comparator: .equals, value: .int64(1))
    rig.save(
      "one", .query(QueryRule(recordType: "Article", filters: [filter], firesOn: .update)))
    rig.fold()
    #expect(rig.why(rig.change(.record(.deleted))) == "filter_not_met")
    #expect(rig.why(rig.change(.record(.updated))) == "filter_not_met")
    #expect(rig.why(rig.change(.zone(.created))) == "no_subscription")
  }

  @Test func `what was subscribed when the change came decides, not what is subscribed now`() {
    var rig = TraceRig.subscribed()
    let history = ZoneID(name: "History", owner: Sample.owner)
    let before = rig.change(in: history)
    rig.save("history", .zone(history, recordType: nil))
    let between = rig.change(in: history)
    rig.modify(.delete(SubscriptionID("history")))
    rig.save("reading", .zone(history, recordType: "Other"))
    let after = rig.change(in: history)
    #expect(rig.why(before) == "no_subscription", "the subscription came later")
    #expect(rig.why(between) == "withdrawn")
    #expect(rig.why(after) == "no_subscription")
    #expect(rig.why(rig.change()) == "no_subscription", "this subscription is for another zone now")
  }

  @Test func `a zone is visible from the grant to its end`() {
    var rig = TraceRig()
    let guest = users(1, inHomeOf: Sample.owner, false)[0]
    let device = DeviceKey(scope: Sample.scope, user: guest, client: Sample.client(2))
    rig.register(2, of: guest)
    rig.save("shared", .database(recordType: nil), .shared, of: guest)
    rig.fold()
    let before = rig.change()
    let grant = rig.change(.granted(guest))
    #expect(rig.why(before, device) == "zone_not_visible")
    #expect(rig.why(grant, device) == "on_its_way")
    rig.forward()
    #expect(rig.why(grant, device) == "gathering")
    let repeated = rig.change(.granted(guest))
    rig.forward()
    #expect(rig.why(repeated, device) == "no_effect")
    let during = rig.change()
    rig.forward()
    #expect(rig.why(during, device) == "gathering")
    let story = rig.explanation(of: during, device)?.story.map(\.line) ?? []
    #expect(story.contains("forwarded to 1") && story.contains("reached"))
    let end = rig.change(.revoked(guest))
    let after = rig.change()
    rig.forward()
    #expect(rig.why(during, device) == "withdrawn" && rig.why(end, device) == "gathering")
    #expect(rig.why(after, device) == "zone_not_visible")
    #expect(rig.why(repeated, device) == "no_effect", "the zone was shared already, and is no more")
    #expect(rig.why(grant) == "other_user" && rig.why(end) == "other_user", "the owner's device")
    let stranger = DeviceKey(scope: Sample.scope, user: UserID("_x"), client: Sample.client(3))
    #expect(rig.why(grant, stranger) == "other_user")
    #expect(rig.why(during, stranger) == "zone_not_visible")
  }

  @Test func `a late change whose record is settled has no effect`() {
    var rig = TraceRig.subscribed()
    rig.change(sequence: 1)
    rig.change(sequence: 3)
    #expect(rig.why(rig.change(sequence: 2)) == "no_effect")
  }

  @Test func `a device hears of changes from its registration to its end`() {
    var rig = TraceRig()
    rig.save()
    rig.fold()
    let before = rig.change()
    rig.register()
    let during = rig.change()
    #expect(rig.why(before) == "unregistered" && rig.why(during) == "gathering")
    rig.unregister()
    let after = rig.change()
    #expect(rig.why(during) == "unregistered" && rig.why(after) == "unregistered")
    rig.register(2)
    let other = rig.change()
    #expect(rig.why(other) == "unregistered", "the user's other device hears of it")
  }

  @Test func `a wide change is on its way until its last slice`() {
    var limits = Limits()
    limits.fanOutSlice = 1
    var rig = TraceRig(limits: limits)
    let all = users(3, inHomeOf: ZoneID.publicDefault.owner, true)
    for (index, user) in all.enumerated() {
      rig.register(UInt64(index + 1), of: user)
      rig.save("all", .query(QueryRule(recordType: "Article")), .public, of: user)
    }
    rig.fold()
    let change = rig.change(in: .publicDefault, .public)
    let last = DeviceKey(scope: Sample.scope, user: all[2], client: Sample.client(3))
    #expect(rig.why(change, last) == "on_its_way")
    rig.slices(in: .home(of: all[0], in: Sample.scope))
    #expect(rig.why(change, last) == "gathering")
  }

  // MARK: Not told any more

  @Test func `a change of a removed subscription or an ended zone is withdrawn`() {
    var rig = TraceRig.subscribed()
    let change = rig.change()
    rig.modify(.delete(SubscriptionID("reading")))
    #expect(rig.why(change) == "withdrawn")
    rig.save()
    rig.fold()
    let second = rig.change()
    let end = rig.change(.zone(.deleted))
    #expect(rig.why(second) == "withdrawn" && rig.why(end) == "gathering")
  }

  @Test func `an alert that the provider refuses for good is rejected`() {
    var rig = TraceRig.subscribed(visible: true)
    let change = rig.change()
    rig.wait(2)
    rig.end(.rejected(Verdict.Reason("BadTopic")))
    #expect(rig.why(change) == "rejected")
  }

  @Test func `the oldest alert gives way when too many wait`() {
    var limits = Limits()
    limits.alertsPending = 1
    var rig = TraceRig(limits: limits)
    rig.register()
    rig.save("all", .database(recordType: nil), visible: true)
    rig.fold()
    let change = rig.change()
    rig.change(in: ZoneID(name: "History", owner: Sample.owner))
    #expect(rig.why(change) == "crowded_out")
  }

  @Test func `an alert that gave way to one of the same change does not decide`() {
    var limits = Limits()
    limits.alertsPending = 1
    var rig = TraceRig.subscribed(limits: limits, visible: true) { $0.pruning.hold = .zero }
    rig.save("all", .database(recordType: nil), visible: true)
    rig.fold()
    rig.wake()
    let first = rig.change()
    rig.modify(.delete(SubscriptionID("all")))
    #expect(rig.why(first) == "withdrawn")
    rig.save("all", .database(recordType: nil), visible: true)
    rig.fold()
    let second = rig.change()
    rig.wait(2)
    rig.end(.gone(at: nil, Verdict.Reason("Unregistered")))
    rig.wait(3)
    let found = rig.explanation(of: second)
    #expect(found?.outcome == .not(.retired("Unregistered")))
    #expect(
      found?.deliveries.map(\.outcome) == [.not(.crowdedOut), .not(.retired("Unregistered"))])
  }

  @Test func `a retired device is told nothing`() {
    var rig = TraceRig.subscribed { $0.pruning.hold = .zero }
    rig.wake()
    let change = rig.change()
    rig.wait(2)
    rig.end(.gone(at: nil, Verdict.Reason("Unregistered")))
    rig.wait(3)
    #expect(rig.why(change) == "retired" && rig.why(rig.change()) == "retired")
    let later = rig.change()
    var found = rig.explanation(of: later)
    #expect(found?.outcome == .not(.retired("Unregistered")))
    rig.register()
    found = rig.explanation(of: later)
    #expect(found?.outcome == .not(.retired("registered anew since")))
    rig.unregister()
    found = rig.explanation(of: later)
    #expect(found?.outcome == .not(.retired("unregistered since")))
  }

  // MARK: Not known

  @Test func `what is older than the memory is no longer known`() {
    var rig = TraceRig.subscribed()
    let change = rig.change()
    rig.wake()
    rig.forgetEntries()
    #expect(rig.why(change) == "no longer known")
  }

  @Test func `lost entries make what they may have told unknown, and nothing else`() {
    var rig = TraceRig.subscribed()
    let first = rig.change()
    rig.wake()
    rig.take()
    let before = rig.entries.count
    let second = rig.change()
    let absent = rig.change(in: ZoneID(name: "Other", owner: Sample.owner))
    rig.wait(2)
    rig.take()
    let after = rig.entries.count
    rig.end()
    let lost = after - 1..<after
    #expect(rig.why(first, without: lost) == "woken 1")
    #expect(rig.why(second) == "woken 2" && rig.why(second, without: lost) == "unknown")
    #expect(rig.why(absent) == "no_subscription" && rig.why(absent, without: lost) == "unknown")
    #expect(rig.why(second, without: before..<after) == "no longer known")
  }

  @Test func `what pends at the very place of the change is known in spite of lost entries`() {
    var rig = TraceRig.subscribed { $0.background.max = 1 }
    rig.change()
    rig.wake()
    let change = rig.change()
    rig.take()
    let end = rig.entries.count
    rig.wait(3)
    rig.take()
    #expect(rig.entries.count > end)
    #expect(rig.why(change, without: end..<rig.entries.count) == "budget")
  }

  /// Two subscriptions fired for the zone, and the zone pends on the lane once for both. The lane
  /// keeps the name of only one of them, and a mark that it was not the only one. So the zone still
  /// pends after both are removed. The explanation must not say that the withdrawn change pends.
  @Test func `what is withdrawn after lost entries does not pend`() {
    var rig = TraceRig.subscribed { $0.background.max = 1 }
    rig.change()
    rig.wake()
    rig.save("all", .database(recordType: nil))
    rig.change()
    rig.modify(.delete(SubscriptionID("reading")))
    let change = rig.change()
    rig.take()
    let end = rig.entries.count
    rig.wait(3)
    rig.take()
    let lost = end..<rig.entries.count
    #expect(!lost.isEmpty && rig.why(change, without: lost) == "budget")
    rig.modify(.delete(SubscriptionID("all")))
    #expect(rig.why(change) == "withdrawn" && rig.why(change, without: lost) == "unknown")
  }

  @Test func `a restart makes what was under way due again`() {
    var rig = TraceRig.subscribed()
    let change = rig.change()
    rig.wait(2)
    #expect(rig.why(change) == "under_way")
    rig.begin()
    rig.end(.later(after: nil, .attempt, Verdict.Reason("of the life before")))
    #expect(rig.why(change) == "resting")
  }

  /// After a crash the relay may not know that the device had read another zone. Then the lane has
  /// no room for this zone.
  @Test func `a replay may put a change into another part of the lane`() throws {
    var rig = TraceRig.subscribed()
    let change = rig.change()
    let found = rig.entries.compactMap { entry -> TracedMatch? in
      if case .matched(let match) = entry.event { match } else { nil }
    }
    var match = try #require(found.last)
    match.devices[0].outcome = .pends(.many, gathers: nil)
    let events: [TraceEvent] = [.began, .matched(match)]
    let entries = rig.entries + events.map { TraceEntry(at: Sample.start, $0) }
    var standing = Standing(device: TraceRig.device, at: rig.now)
    standing.pending = [
      Standing.Part(part: .many, position: match.position, reason: .notFolded)
    ]
    let explained = Explanation.of(change, in: entries, standing)
    #expect(explained.last?.outcome == .not(.notFolded))
  }

  /// A producer may use a source and id again once they are forgotten.
  @Test func `each change of one name is explained for itself`() {
    var rig = TraceRig.subscribed()
    let change = rig.change()
    rig.wake()
    rig.modify(.delete(SubscriptionID("reading")))
    rig.change(as: change)
    rig.take()
    let standing = rig.relay.standing(of: TraceRig.device, zones: [], at: rig.now)
    let found = Explanation.of(change, in: rig.entries, standing)
    #expect(found.map(\.outcome) == [.woken(1), .not(.noSubscription)])
  }

  @Test func `the list of codes has every reason once`() {
    #expect(Set(Explanation.Reason.codes).count == Explanation.Reason.codes.count)
    #expect(Explanation.Reason.codes.contains(Explanation.Reason.retired("x").code))
  }
}

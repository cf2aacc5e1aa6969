import Testing

@testable import RelayCore

/// What forms a commit, and what the coordinator does with one that the store refuses.
@Suite struct CoordinatorCommitTests {
  private typealias Run = CoordinatorRun

  @Test func `a change is answered when it is stepped, and visible after the fold`() {
    let run = Run()
    run.foldOnce()
    #expect(run.turn(Run.request(1, Run.change(1))) == ["append 1", "timer 20000"])
    let home = PartitionID.home(of: Sample.owner, in: Sample.scope).number
    #expect(
      run.turn(run.appended(), after: 5)
        == ["answer 1: accepted", "release 1", "timer 195"])
    #expect(run.turn(after: 195) == ["fold [\(home)]", "timer 86400000"])
    #expect(run.turn(run.folded(), after: 5).first == "visible")
    #expect(run.reached.contains(.answeredWhenStepped))
  }

  @Test func `requests that arrive during a commit go into the next commit`() {
    let run = Run()
    run.turn(Run.request(1, Run.change(1)))
    #expect(run.turn(Run.request(2, Run.change(2)), after: 1) == ["timer 19999"])
    #expect(run.turn(Run.request(3, Run.change(3)), after: 1) == ["timer 19998"])
    #expect(
      run.turn(run.appended(), after: 1).prefix(3)
        == ["append 2", "answer 1: accepted", "release 1"])
  }

  @Test func `a full store refuses the requests of a commit and is tried again`() {
    let run = Run()
    run.turn(Run.request(1, Run.change(1)))
    let refused = run.turn(.appended(.failure(Run.full)), after: 1)
    #expect(
      refused.prefix(3) == ["event appendRefused", "answer 1: store_full", "release 1"])
    // The coordinator tries the store again although no request waits for the store.
    #expect(refused.last == "timer 1000")
    let waits = run.turn(Run.request(2, Run.change(2)), after: 1)
    #expect(waits == ["timer 999"], "not before a second is over")
    #expect(run.turn(after: 999).first == "append 1")
    #expect(run.reached.contains(.commitRefused) && run.reached.contains(.commitRepeated))
  }

  @Test func `a commit that is too large is halved, and a single request is refused`() {
    let run = Run()
    run.turn(Run.request(1, Run.change(1)))
    run.turn(Run.request(2, Run.change(2)), Run.request(3, Run.change(3)))
    #expect(run.turn(run.appended()).first == "append 2")
    #expect(
      run.turn(.appended(.failure(Run.tooLarge))).prefix(2) == ["event divided", "append 1"])
    #expect(
      run.turn(.appended(.failure(Run.tooLarge))).prefix(4) == [
        "event requestRefused", "answer 2: request_too_large", "release 2", "append 1",
      ])
    #expect(
      run.turn(run.appended()).prefix(2) == ["answer 3: accepted", "release 3"])
    #expect(run.reached.contains(.commitDivided) && run.reached.contains(.requestRefused))
  }

  @Test func `one request's facts for one partition always form one commit`() {
    let run = Run { $0.work.commit.facts = 2 }
    let facts = (1...5).map { Run.change($0) }
    let request = Coordinator.Input.request(RequestID(1), facts, by: .caller(1))
    #expect(run.turn(request).first == "append 5")
    #expect(run.reached.contains(.requestKeptWhole))
  }

  @Test func `a commit ends at its bound, and the rest follows`() {
    let run = Run { $0.work.commit.facts = 2 }
    let requests = (1...5).map { Run.request($0, Run.change($0)) }
    #expect(run.turn(requests[0], requests[1], requests[2]).first == "append 2")
    #expect(run.turn(run.appended()).first == "append 1")
    #expect(run.reached.contains(.commitFull))
  }

  @Test func `a request waits for every partition that it concerns`() {
    let run = Run { $0.work.commit.facts = 1 }
    let others = (0...9).map { UserID("_u\($0)") }
    let home = { PartitionID.home(of: $0, in: Sample.scope) }
    let other = others.first { home($0) != home(Sample.owner) } ?? Sample.owner
    run.turn(Run.request(1, Run.change(1), Run.change(2, other)))
    #expect(!run.turn(run.appended()).contains("release 1"))
    #expect(run.turn(run.appended()).contains("answer 1: accepted, accepted"))
    #expect(run.reached.contains(.requestInSeveralPartitions))
  }

  /// The request below has facts for two partitions, and only one of the facts makes a message. If
  /// the other partition's share reserved room too, the relay would refuse the next change.
  @Test func `each share of a request reserves room for its own messages only`() {
    let run = Run { $0.limits.forwardedMessages = 2 }
    let subscriber = users(1, inHomeOf: ZoneID.publicDefault.owner, false)[0]
    let subscription = Subscription(
      id: SubscriptionID("q"), database: .public, rule: .query(QueryRule(recordType: "Note")),
      info: NotificationInfo())
    run.turn(
      Run.request(
        1,
        .modify(
          SubscriptionsRequest(
            scope: Sample.scope, user: subscriber, database: .public,
            operations: [.save(subscription)]))))
    run.settle()
    let both = run.turn(Run.request(2, Self.publicChange(2), Run.change(3)))
    #expect(both.first == "append 2")
    #expect(run.reached.contains(.requestInSeveralPartitions))
    #expect(!run.turn(Run.request(3, Self.publicChange(4))).contains { $0.hasPrefix("answer") })
    #expect(run.turn(Run.request(4, Self.publicChange(5))).first == "answer 4: forwards_full")
  }

  private static func publicChange(_ number: UInt64) -> Fact {
    .change(
      Change(
        scope: Sample.scope, database: .public, zone: .publicDefault,
        event: .record(RecordChange(verb: .created, name: "r\(number)", type: "Note")),
        time: Sample.start, notification: Sample.nid(number), fingerprint: number))
  }

  @Test func `a request fails at its deadline and keeps its place until it is done`() {
    let run = Run { $0.answerWithin = .seconds(2) }
    run.turn(Run.request(1, Run.change(1)))
    #expect(run.turn(after: 1_999) == ["timer 1"])
    #expect(run.turn(after: 1).first == "answer 1: store_slow")
    #expect(run.turn(run.appended(), after: 1).first == "release 1")
    #expect(run.reached.contains(.requestGivenUp))
  }

  @Test(arguments: [StoreError.Code.unknown, .corrupt])
  func `a commit with an unknown outcome ends the daemon`(code: StoreError.Code) {
    let run = Run()
    run.turn(Run.request(1, Run.change(1)))
    let actions = run.turn(.appended(.failure(StoreError(code, "x"))))
    #expect(actions.first == "failed append: \(code)")
    #expect(!actions.contains { $0.hasPrefix("answer") })
  }

  @Test func `a full journal tail refuses new facts until a fold has ended`() {
    let run = Run { $0.journalTailMax = 2 }
    run.turn(Run.request(1, Run.change(1)), Run.request(2, Run.change(2)))
    #expect(run.turn(run.appended()).contains("refuse: store_full"))
    run.turn(after: 200)
    #expect(run.turn(run.folded()).contains("take again"))
    #expect(run.reached.contains(.admissionEnded))
  }
}

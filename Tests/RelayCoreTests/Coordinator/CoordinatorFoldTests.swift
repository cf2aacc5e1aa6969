import Testing

@testable import RelayCore

/// When folds and trims begin, and what the coordinator does when the store refuses them.
@Suite struct CoordinatorFoldTests {
  private typealias Run = CoordinatorRun

  private static let home = PartitionID.home(of: Sample.owner, in: Sample.scope).number
  private static let fold = "fold [\(home)]"

  @Test func `a fold waits to merge changes, but starts soon if a reader waits`() {
    let run = Run()
    run.foldOnce()
    run.turn(Run.request(1, Run.change(1)))
    #expect(run.turn(run.appended()).last == "timer 200")
    run.hasReaders = true
    #expect(run.turn(after: 19) == ["timer 1"])
    #expect(run.turn(after: 1).first == Self.fold)
  }

  @Test func `a refused fold is repeated with the same cut, and readers are told`() {
    let run = Run()
    run.turn(Run.request(1, Run.change(1)))
    run.turn(run.appended())
    run.turn(after: 200)
    let first = run.folding
    #expect(
      run.turn(.folded(.failure(Run.full))).prefix(2)
        == ["event foldRefused", "unreadable: store_full"])
    #expect(run.turn(after: 999).last == "timer 1")
    #expect(run.turn(after: 1).first == Self.fold)
    #expect(run.folding == first && first != nil)
    #expect(run.turn(run.folded()).first == "visible")
    #expect(run.reached.contains(.foldRefused) && run.reached.contains(.foldRepeated))
  }

  @Test func `a request whose fold is refused gets an error and counts until folded`() {
    let run = Run()
    let register = Fact.register(
      Registration(
        scope: Sample.scope, user: Sample.owner, client: Sample.client(1),
        address: Sample.address(1)))
    run.turn(Run.request(1, register))
    run.turn(run.appended())
    run.turn(after: 20)
    #expect(run.turn(.folded(.failure(Run.full))).contains("answer 1: store_full"))
    run.turn(after: 1_000)
    #expect(run.turn(run.folded()).contains("release 1"))
    #expect(run.reached.contains(.requestGivenUpByFold) && run.reached.contains(.answerWaited))
  }

  /// The journal is one file and the tables are another, so a commit that succeeds does not show
  /// that the tables accept a fold.
  @Test func `a commit shows that the store works again, unless a fold is refused`() {
    let run = Run()
    run.turn(Run.request(1, Run.change(1)))
    run.turn(.appended(.failure(Run.full)))
    #expect(run.issues == [.storeRefuses("no room")])
    run.turn(Run.request(2, Run.change(2)), after: 1)
    run.turn(after: 999)
    run.turn(run.appended())
    #expect(run.issues.isEmpty)
    run.turn(after: 200)
    run.turn(.folded(.failure(Run.full)), Run.request(3, Run.change(3)))
    run.turn(run.appended())
    #expect(run.issues == [.storeRefuses("no room")])
    run.turn(after: 1_000)
    run.turn(run.folded())
    #expect(run.issues.isEmpty)
  }

  @Test func `a fold of unknown outcome ends the daemon`() {
    let run = Run()
    run.turn(Run.request(1, Run.change(1)))
    run.turn(run.appended())
    run.turn(after: 200)
    let error = StoreError(.unknown, "x")
    #expect(run.turn(.folded(.failure(error))).first == "failed fold: \(error.code)")
  }

  @Test func `trims alternate with folds and continue while many rows are left`() {
    let run = Run { $0.trimEvery = .seconds(1) }
    run.foldOnce()
    run.turn(Run.request(1, Run.change(1)), after: 900)
    #expect(run.turn(run.appended(), after: 100).contains("trim"))
    // This trim removed as many rows as it may, so more are left. A fold comes first.
    run.turn(.trimmed(rows: Coordinator.trimRows))
    #expect(run.turn(after: 200).first == Self.fold)
    run.turn(run.folded())
    run.turn(Run.request(2, Run.change(2)))
    #expect(run.turn(run.appended(), after: 200).contains("trim"))
    run.turn(.trimmed(rows: 1))
    #expect(run.turn(after: 200).first == Self.fold)
    #expect(run.reached.contains(.trimmed) && run.reached.contains(.trimmedInParts))
  }

  @Test func `a reload with a shorter time between trims applies at once`() {
    let run = Run { $0.trimEvery = .days(1) }
    run.foldOnce()
    var settings = RelaySettings()
    settings.trimEvery = .seconds(1)
    run.turn(.reconfigured(Coordinator.Reconfiguration(settings: settings)))
    run.turn(Run.request(1, Run.change(1)), after: 900)
    #expect(run.turn(run.appended(), after: 100).contains("trim"))
  }

  @Test func `a refused trim leaves no cut behind, and folds continue`() {
    let run = Run { $0.trimEvery = .seconds(1) }
    run.foldOnce()
    run.turn(Run.request(1, Run.change(1)), after: 900)
    #expect(run.turn(run.appended(), after: 100).contains("trim"))
    let refused = run.turn(.folded(.failure(Run.full)))
    #expect(refused.first == "event foldRefused" && !refused.contains("unreadable: store_full"))
    #expect(run.turn(after: 200).first == Self.fold)
    #expect(run.reached.contains(.trimRefused))
  }

  @Test func `durable facts wait while too many entries wait for a cut`() {
    let run = Run {
      $0.work.workPerTurn = 1
      $0.entriesUncutMax = 1
    }
    run.turn(Run.request(1, Run.change(1)))
    run.turn(run.appended())
    run.turn(Run.request(2, Run.change(2)), Run.request(3, Run.change(3)))
    #expect(run.turn(run.appended()).first == "answer 2: accepted")
    #expect(run.turn() == ["timer 20000"], "change 3 is durable and waits")
    run.turn(run.folded())
    #expect(run.turn(after: 300) == [Self.fold, "timer 0"])
    #expect(run.turn().first == "answer 3: accepted")
    #expect(run.reached.contains(.steppingHeldForCut))
  }

  /// A caller that has had a whole turn, which is 256 facts, waits for the cut.
  @Test func `while a reader waits, a busy caller's facts wait for the cut if the store works`() {
    let run = Run { $0.work.entriesForReader = 256 }
    run.foldOnce()
    run.hasReaders = true
    let facts = (0..<256).map { Run.change(UInt64($0)) }
    run.turn(.request(RequestID(1), facts, by: .caller(1)))
    run.turn(run.appended(), .request(RequestID(2), [Run.change(300)], by: .caller(1)), after: 1)
    #expect(run.turn(after: 1).allSatisfy { !$0.hasPrefix("append") })
    #expect(run.turn(after: 20).prefix(2) == [Self.fold, "append 1"])
    #expect(run.reached.contains(.commitHeldForReader))
    run.turn(run.appended())
    run.turn(.folded(.failure(Run.full)))
    run.turn(.request(RequestID(3), facts, by: .caller(1)))
    #expect(
      run.turn(run.appended(), .request(RequestID(4), [Run.change(400)], by: .caller(1)), after: 1)
        .contains("append 1"), "no cut is near while the store refuses folds")
  }

  @Test func `an empty fold after a refusal tests whether the store works again`() {
    let run = Run()
    run.turn(Run.request(1, Run.change(1)))
    run.turn(.appended(.failure(Run.full)))
    #expect(run.turn(after: 1_000).first == "fold []")
    #expect(run.reached.contains(.foldTried))
  }

  @Test func `a cut excludes a partition with a partly stepped request`() {
    let run = Run { $0.work.workPerTurn = 1 }
    run.hasReaders = true
    run.turn(
      .request(RequestID(1), [Run.change(1), Run.change(2)], by: .caller(1)))
    #expect(run.turn(run.appended(), after: 20) == ["timer 0"])
    #expect(
      run.turn() == ["answer 1: accepted, accepted", "release 1", Self.fold, "timer 86400000"])
    #expect(run.reached.contains(.turnEnded))
  }

  @Test func `feedback is announced once, after the fold that makes it durable`() throws {
    let run = try Run.pushing()
    run.turn(.verdict(run.pushes[0], .gone(at: nil, Verdict.Reason("Unregistered"))))
    // The report of a dead device waits for the reports of other devices.
    run.turn(after: 10_000)
    #expect(run.feedback.isEmpty && run.folding != nil)
    run.settle()
    #expect(run.feedback == [[Sample.scope]])
    run.turn(Run.request(9, Run.change(9)))
    run.settle()
    #expect(run.feedback.count == 1)
  }

  /// With each slice and each change, a partition reports again that a smear wakes devices faster
  /// than the rate.
  @Test func `smears over the rate are reported once in ten minutes`() {
    let run = Run {
      $0.policy.smearing.above = 64
      $0.policy.smearing.rate = 64
      $0.policy.smearing.longest = .seconds(1)
    }
    // Four users subscribe to each record type, but the rate allows a partition one wake a second.
    for (index, user) in users(20, inHomeOf: ZoneID.publicDefault.owner, true).enumerated() {
      let number = UInt64(index + 1)
      let registration = Registration(
        scope: Sample.scope, user: user, client: Sample.client(number),
        address: Sample.address(UInt8(number)))
      let subscription = Subscription(
        id: SubscriptionID("q"), database: .public,
        rule: .query(QueryRule(recordType: "T\(index / 4)")), info: NotificationInfo())
      let subscribing = SubscriptionsRequest(
        scope: Sample.scope, user: user, database: .public, operations: [.save(subscription)])
      run.turn(Run.request(number, .register(registration), .modify(subscribing)))
      run.settle()
    }
    func reports(_ type: UInt64, after wait: Int64) -> Int {
      let change = Change(
        scope: Sample.scope, database: .public, zone: .publicDefault,
        event: .record(RecordChange(verb: .updated, name: "r", type: "T\(type)")),
        time: Sample.start, notification: Sample.nid(type), fingerprint: type)
      run.turn(Run.request(100 + type, .change(change)), after: wait)
      let lines = run.turn(run.appended())
      run.turn(run.folded())
      return lines.count { $0 == "event hurried" }
    }
    #expect(reports(0, after: 0) == 1)
    #expect(reports(1, after: 1_000) == 0)
    #expect(reports(2, after: 598_999) == 0, "ten minutes are not quite over")
    #expect(reports(3, after: 1) == 1)
    #expect(reports(4, after: 599_999) == 0)
  }
}

import RelayMemory
import Testing

@testable import RelayCore

/// How the coordinator starts, handles wrong clocks, takes new settings and stops.
@Suite struct CoordinatorLifeTests {
  private typealias Run = CoordinatorRun

  @Test func `a stop waits for work under way and starts no other work`() {
    let run = Run()
    run.turn(Run.request(1, Run.change(1)))
    #expect(run.turn(.stop).first == "event stopping")
    let stopped = run.turn(run.appended(), after: 5)
    #expect(stopped.contains("answer 1: accepted") && !stopped.contains("stopped"))
    #expect(run.folding != nil)
    #expect(run.turn(run.folded()).contains("stopped"))
    #expect(run.lastCut?.isLast == true)
    #expect(run.reached.contains(.stoppedAtRest) && run.reached.contains(.lastCutTaken))
  }

  @Test func `an empty request is answered at once`() {
    let run = Run()
    #expect(run.turn(Run.request(1)).prefix(2) == ["answer 1: ", "release 1"])
  }

  @Test func `a stop waits for the verdict of a push`() throws {
    let run = try Run.pushing { $0.drainGrace = .seconds(60) }
    run.turn(.stop)
    run.settle()
    #expect(!run.turn(after: 1).contains("stopped"))
    run.turn(.verdict(run.pushes[0], .delivered))
    run.settle()
    #expect(run.reached.contains(.stoppedAtRest) && !run.reached.contains(.stoppedAtDeadline))
  }

  /// An era states its first ordinal: the one that the first fact of its life gets.
  @Test func `the first fact of a life gets the era's first ordinal`() {
    let run = Run()
    run.turn(Run.request(1, Run.change(1)))
    #expect(run.appending.map(\.ordinal) == [Ordinal(1)])
  }

  @Test func `a stop does not wait for a push beyond its deadline`() throws {
    let run = try Run.pushing { $0.drainGrace = .seconds(2) }
    run.turn(.stop)
    run.settle()
    #expect(run.turn(after: 2_000).contains("stopped"))
    #expect(run.reached.contains(.stoppedAtDeadline))
  }

  @Test func `a stop ends at its deadline, not later`() throws {
    let run = try Run.pushing { $0.drainGrace = .seconds(2) }
    run.turn(.stop)
    run.turn(run.folded())
    #expect(!run.turn(after: 1_999).contains("stopped"))
    #expect(run.turn(after: 1).contains("stopped"))
  }

  /// Earlier, the loop asked for a turn at once, again and again, until the fold had ended.
  @Test func `a stop beyond its deadline waits for the current fold without turns`() {
    let run = Run { $0.drainGrace = .seconds(1) }
    run.turn(Run.request(1, Run.change(1)))
    run.turn(run.appended())
    run.turn(after: 200)
    run.turn(.stop)
    #expect(run.turn(after: 2_000) == ["timer 86400000"])
    #expect(run.turn(run.folded()).contains("stopped"))
  }

  @Test func `a stop after a failed fold makes no last cut`() {
    let run = Run { $0.drainGrace = .seconds(1) }
    run.turn(Run.request(1, Run.change(1)))
    run.turn(run.appended())
    run.turn(after: 200)
    // What the cut holds is in the journal: the next life folds it.
    #expect(run.turn(.stop, .folded(.failure(Run.full))).contains("stopped"))
    #expect(run.lastCut == nil)
    #expect(run.reached.contains(.lastCutLeftOut))
  }

  @Test func `a wrong wall clock is reported once, and its correction once`() {
    let run = Run()
    run.wallAhead = .days(7_300)
    #expect(run.turn(after: 1).first == "event clock")
    #expect(run.turn(after: 1).count == 1)
    run.wallAhead = .zero
    #expect(run.turn(after: 1).first == "event clock")
    run.turn(Run.request(1, Run.change(1)))
    #expect(run.appending.first?.at == run.now, "nothing durable learns of it")
    #expect(run.reached.contains(.clockJumped) && run.reached.contains(.clockCorrected))
  }

  @Test func `a wall clock that has jumped is accepted after an hour`() {
    let run = Run()
    run.wallAhead = .days(3)
    run.turn(after: 1)
    #expect(run.turn(after: 3_600_000).first == "event clock")
    run.turn(Run.request(1, Run.change(1)))
    #expect(run.appending.first?.at == run.now + .days(3))
    #expect(run.reached.contains(.clockBelieved))
  }

  @Test func `facts that an earlier life left in the journal are folded first`() {
    let before = Run()
    before.turn(Run.request(1, Run.change(1)))
    _ = before.appended()
    let run = Run(before.world)
    // The fold lag counts from the newest replayed fact, and not from the first fold of this life:
    // while the disk is full, the relay cannot fold at all.
    #expect(run.counters.unfolded == 1 && run.counters.lastFold == before.now)
    #expect(run.turn(after: 200).first?.hasPrefix("fold") == true)
    #expect(run.reached.contains(.tailReplayed))
  }

  /// An accepted change is not dropped: the message keeps the names and loses the values.
  @Test func `a message that is too large for the store is sent without its values`() {
    let source = PartitionID(1)
    let fields = [Field(name: "k", value: .string(String(repeating: "v", count: 100)))]
    let change = Change(
      scope: Sample.scope, database: .public, zone: .publicDefault,
      event: .record(RecordChange(verb: .updated, name: "r", type: "A", fields: fields)),
      time: Sample.start, notification: Sample.nid(1), fingerprint: 1)
    let serial = Sample.position(1)
    let row = OutboxRow(
      source: source, key: OutboxRow.Key(target: PartitionID(2), serial: serial),
      message: .change(change, at: serial))
    var world = MemoryWorld()
    world.partitions[1].outbox[row.key] = row
    let run = Run(world)
    #expect(run.turn().first == "append 1")
    #expect(
      run.turn(.appended(.failure(Run.tooLarge))).prefix(2)
        == ["event valuesLeftOut", "append 1"])
    #expect(run.appending.first.map { Self.fields(of: $0.fact) } == .some([]))
    #expect(
      run.turn(.appended(.failure(Run.tooLarge))).first == "failed fact: store_too_large")
    #expect(run.reached.contains(.valuesLeftOut) && run.reached.contains(.outboxRecovered))
  }

  private static func fields(of fact: Fact) -> [Field]? {
    guard case .forwarded(let forwarded) = fact, case .change(let change, _) = forwarded.message,
      case .record(let record) = change.event
    else { return nil }
    return record.fields
  }

  @Test func `a route without a sender gets no push, and its devices wait`() throws {
    let run = try Run.pushing(routes: [])
    #expect(run.reached.contains(.pushWithoutSender))
    run.turn(Run.request(9, Run.change(9)))
    run.settle()
    run.turn(after: 3_600_000)
    #expect(run.pushes.isEmpty)
    run.turn(
      .reconfigured(
        Coordinator.Reconfiguration(settings: RelaySettings(), started: [Run.route])))
    run.turn(after: 60_000)
    #expect(run.pushes.count == 1)
    #expect(run.reached.contains(.reconfigured))
  }
}

import RelayCore
import Testing

@testable import RelayEngine

@Suite struct InboxTests {
  private func submission(_ count: Int) -> Inbox.Submission {
    Inbox.Submission(
      facts: Array(repeating: .expireTokens(TokenExpiry()), count: count), answer: { _ in })
  }

  /// The inbox refuses every submission until recovery is over.
  @Test func `the inbox is closed before recovery is over`() {
    #expect(Inbox(factsMax: 10).offer(submission(1)) == .recovering)
  }

  /// Limit: limits.inboxChanges
  @Test(arguments: [(changes: 5, isRefused: false), (6, false), (7, true)])
  func `the inbox accepts at most the allowed number of changes`(changes: Int, isRefused: Bool) {
    let inbox = Inbox(factsMax: 10)
    inbox.begin()
    #expect(inbox.offer(submission(4)) == nil)
    let refusal = isRefused ? Unavailable.inboxFull : nil
    #expect(inbox.offer(submission(changes)) == refusal)
  }

  /// Beyond its bound the inbox refuses at once. Released room can be used again.
  @Test func `a full inbox refuses a submission, and released room is used again`() {
    let inbox = Inbox(factsMax: 10)
    inbox.begin()
    #expect(inbox.offer(submission(8)) == nil)
    #expect(inbox.offer(submission(3)) == .inboxFull)
    #expect(inbox.offer(submission(2)) == nil)
    inbox.release(submission(8).room)
    #expect(inbox.offer(submission(3)) == nil)
  }

  /// A submission of one change whose record has a text of `bytes` bytes.
  private func submission(bytes: Int) -> Inbox.Submission {
    let record = RecordChange(
      verb: .created, name: "A", type: "Note",
      fields: [Field(name: "text", value: .string(String(repeating: "x", count: bytes)))])
    let zone = ZoneID(name: "Notes", owner: UserID("_a"))
    return Inbox.Submission(
      facts: [World.change(1, zone, event: .record(record))], answer: { _ in })
  }

  /// A small number of changes may be large, so memory is bounded by bytes too.
  ///
  /// Limit: limits.inboxBytes
  @Test func `the inbox accepts at most the allowed number of bytes`() {
    let one = submission(bytes: 10_000)
    let inbox = Inbox(factsMax: 1_000, bytesMax: 2 * one.room.bytes)
    inbox.begin()
    #expect(inbox.offer(one) == nil)
    #expect(inbox.offer(submission(bytes: 10_001)) == .inboxFull)
    #expect(inbox.offer(one) == nil)
    #expect(inbox.offer(submission(1)) == .inboxFull)
    inbox.release(one.room)
    #expect(inbox.offer(submission(bytes: 9_999)) == nil)
  }

  /// An empty inbox accepts a submission larger than the bound.
  @Test func `an empty inbox accepts one submission above the byte limit`() {
    let inbox = Inbox(factsMax: 1_000, bytesMax: 1_000)
    inbox.begin()
    let large = submission(bytes: 5_000)
    #expect(inbox.offer(large) == nil)
    #expect(inbox.offer(submission(1)) == .inboxFull)
    inbox.release(large.room)
    #expect(inbox.offer(submission(1)) == nil)
  }

  /// An empty inbox accepts a submission larger than the bound, so no submission is refused for
  /// ever.
  @Test func `an empty inbox accepts one submission above the change limit`() {
    let inbox = Inbox(factsMax: 10)
    inbox.begin()
    #expect(inbox.offer(submission(50)) == nil)
    #expect(inbox.offer(submission(1)) == .inboxFull)
  }

  /// Completions have a reserved place: a full inbox takes them.
  @Test func `the inbox never refuses completions`() async {
    let inbox = Inbox(factsMax: 1)
    inbox.begin()
    _ = inbox.offer(submission(1))
    for _ in 0..<100 { inbox.post(.readerWaits) }
    let batch = await inbox.take(within: .seconds(3_600))
    #expect(batch.events.count == 100)
    #expect(batch.submissions.count == 1)
  }

  /// The loop waits for a shorter time than before: the timer is set to the earlier instant.
  @Test(.timeLimit(.minutes(1)))
  func `a take with a shorter wait ends at the earlier instant`() async {
    let inbox = Inbox(factsMax: 1)
    inbox.post(.readerWaits)
    #expect(await inbox.take(within: .seconds(3_600)).events.count == 1)
    #expect(await inbox.take(within: Span(milliseconds: 20)).events.isEmpty)
  }

  /// A call of `take` does not stop the timer of an earlier call. When that timer fires, the later
  /// call returns no events to the loop, and the loop calls `take` again.
  @Test(.timeLimit(.minutes(1)))
  func `the timer of an earlier take ends a later one`() async {
    let inbox = Inbox(factsMax: 1)
    inbox.post(.readerWaits)
    #expect(await inbox.take(within: Span(milliseconds: 200)).events.count == 1)
    #expect(await inbox.take(within: .seconds(3_600)).events.isEmpty)
    #expect(await inbox.take(within: Span(milliseconds: 20)).events.isEmpty)
  }

  @Test(.timeLimit(.minutes(1)), arguments: [0, -5])
  func `a take without a wait returns at once, each time`(milliseconds: Int64) async {
    let inbox = Inbox(factsMax: 1)
    for _ in 0..<3 {
      #expect(await inbox.take(within: Span(milliseconds: milliseconds)).events.isEmpty)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `what comes in, and the end of the inbox, end a take early`() async {
    let inbox = Inbox(factsMax: 1)
    async let event = inbox.take(within: .seconds(3_600))
    inbox.post(.readerWaits)
    #expect(await event.events.count == 1)
    async let end = inbox.take(within: .seconds(3_600))
    inbox.close()
    #expect(await end.events.isEmpty)
    #expect(await inbox.take(within: .seconds(3_600)).events.isEmpty)
  }

  private func device(_ number: UInt64) -> DeviceKey {
    DeviceKey(scope: World.scope, user: UserID("_a"), client: World.client(number))
  }

  /// If the inbox refused the end of a connection, the device would still count as connected.
  @Test func `the inbox refuses connections that open, and never one that closes`() async {
    let inbox = Inbox(factsMax: 10, connectionsMax: 1)
    let taken = (1...UInt64(3)).map { inbox.post(.input(.connected(device($0), $0, after: nil))) }
    #expect(taken == [true, true, false])
    for number: UInt64 in 1...2 {
      inbox.post(.input(.left(device(number), number, isExpectedBack: false)))
    }
    let batch = await inbox.take(within: .seconds(3_600))
    #expect(batch.events.count == 4)
    #expect(inbox.post(.input(.connected(device(3), 3, after: nil))))
  }

  /// The loop does not run, so all inputs wait in the inbox.
  @Test(arguments: [(connections: 1, taken: 2), (2, 4)])
  func `all the courier's connections may be replaced at once`(connections: Int, taken: Int) {
    let engine = World { $0.limits.courierConnections = connections }.engine
    for number in 1...UInt64(taken) {
      let isTaken = engine.connected(device(number), connection: number, after: nil)
      guard isTaken else {
        Issue.record("connection \(number) was refused")
        return
      }
      engine.left(device(number), connection: number, isExpectedBack: true)
    }
    #expect(!engine.connected(device(0), connection: 0, after: nil))
  }

  /// An inbox that drains goes on refusing submissions after another reason to refuse is gone.
  @Test func `an inbox keeps draining when another refusal is lifted`() {
    let inbox = Inbox(factsMax: 10)
    inbox.drain()
    inbox.begin()
    inbox.refuseUnlessDraining(nil)
    #expect(inbox.offer(submission(1)) == .draining)
  }
}

import HTTPTypes
import NIOCore
import NIOHTTP1
import RelayHTTP
import Testing

/// Gives inputs to a state machine that has no channel, and returns its actions as texts.
private struct Connection {
  private(set) var machine = ConnectionStateMachine(
    idle: .seconds(10), at: .uptimeNanoseconds(0))
  var isWritable = true
  private var now = NIODeadline.uptimeNanoseconds(0)

  mutating func pass(_ time: TimeAmount) { now = now + time }

  mutating func mayRead() -> Bool { machine.mayRead() }

  mutating func on(_ input: ConnectionStateMachine.Input) -> [String] {
    machine.handle(input, isWritable: isWritable, at: now).map(Self.text)
  }

  /// Passes on all parts of one read, and then the end of the read.
  mutating func read(_ parts: [HTTPServerRequestPart]) -> [String] {
    let actions = parts.flatMap { on(.received($0)) }
    return actions + on(.readEnded)
  }

  /// Writes a whole answer, whose bytes do not reach the network yet.
  mutating func answer(_ serial: UInt32, isHolder: Bool = false) -> [String] {
    let form = machine.beginWriting(
      serial: serial, isHolder: isHolder, isInterim: false, isLast: true)
    guard let form else { return ["dropped"] }
    return [form.isLast ? "answer, last" : "answer"] + on(.answerWritten(serial: serial))
  }

  mutating func hold() throws -> UInt32? { try machine.hold() }
  mutating func release(_ serial: UInt32) { machine.release(serial: serial) }

  mutating func interim(_ serial: UInt32) -> Bool {
    machine.beginWriting(serial: serial, isHolder: false, isInterim: true, isLast: false) != nil
  }

  private static func text(_ action: ConnectionStateMachine.Action) -> String {
    switch action {
    case .respond(let head, .complete(let body), let serial):
      "respond \(serial) \(head.path ?? "") with \(body.readableBytes)"
    case .respond(let head, .arriving(let first), let serial):
      "respond \(serial) \(head.path ?? "") with \(first?.readableBytes ?? 0) so far"
    case .refuse(let refusal, let serial): "refuse \(serial) \(refusal.status.code)"
    case .deliver(let bytes): bytes.map { "deliver \($0.readableBytes)" } ?? "deliver end"
    case .failBody(let error as WireError): "fail body \(error.status.code)"
    case .failBody: "fail body"
    case .tellHolder: "tell holder"
    case .read: "read"
    case .setTimer(let time): "timer \(time.nanoseconds / 1_000_000_000)"
    case .closeOutput: "close output"
    case .close: "close"
    }
  }
}

/// The decisions of one HTTP/1.1 connection.
@Suite struct ConnectionStateMachineTests {
  private var connection = Connection()

  // MARK: Requests

  @Test mutating func `a request is passed on whole when it arrives in one read`() {
    #expect(
      connection.read([.start("/a"), .bytes(3), .bytes(4), .last]) == ["respond 1 /a with 7"])
    #expect(connection.answer(1) == ["answer"])
    #expect(connection.read([.start("/b"), .last]) == ["respond 2 /b with 0"])
  }

  @Test mutating func `the next request begins only after the previous answer`() {
    #expect(connection.read([.start("/a"), .last, .start("/b"), .last]) == ["respond 1 /a with 0"])
    #expect(connection.on(.writabilityChanged) == [])
    #expect(connection.answer(1) == ["answer", "respond 2 /b with 0"])
    #expect(connection.answer(1) == ["dropped"], "an answer to an earlier request")
    #expect(connection.answer(2) == ["answer"])
  }

  @Test mutating func `a body is delivered when the responder waits for it`() {
    #expect(connection.read([.start("/a"), .bytes(3)]) == ["respond 1 /a with 3 so far"])
    #expect(connection.read([.bytes(4), .bytes(5)]) == [])
    #expect(connection.on(.bodyAwaited(serial: 1)) == ["deliver 4"])
    #expect(connection.on(.bodyAwaited(serial: 1)) == ["deliver 5"])
    #expect(connection.on(.bodyAwaited(serial: 1)) == [])
    #expect(connection.read([.last]) == ["deliver end"])
    #expect(connection.on(.bodyAwaited(serial: 1)) == ["deliver end"], "asked again")
    #expect(connection.answer(1) == ["answer"])
    #expect(connection.on(.bodyAwaited(serial: 1)) == ["fail body"], "the request is over")
  }

  @Test mutating func `no request begins while the client reads no answers`() {
    connection.isWritable = false
    #expect(connection.read([.start("/a"), .last]) == [])
    connection.isWritable = true
    #expect(connection.on(.writabilityChanged) == ["respond 1 /a with 0"])
  }

  @Test(arguments: [(count: 9, mayRead: true), (10, false), (11, false)])
  mutating func `the connection reads nothing while ten or more parts wait`(
    count: Int, mayRead: Bool
  ) {
    #expect(connection.read([.start("/a"), .bytes(1)]) == ["respond 1 /a with 1 so far"])
    #expect(connection.read([HTTPServerRequestPart](repeating: .bytes(1), count: count)) == [])
    #expect(connection.mayRead() == mayRead)
    let reads = (0..<count).flatMap { _ in connection.on(.bodyAwaited(serial: 1)) }
    #expect(reads.count { $0 == "deliver 1" } == count)
    #expect(reads.count { $0 == "read" } == (mayRead ? 0 : 1))
    #expect(connection.mayRead() == true)
  }

  @Test mutating func `a held request is answered by its holder only`() throws {
    #expect(connection.read([.start("/a"), .last]) == ["respond 1 /a with 0"])
    #expect(try connection.hold() == 1)
    #expect(connection.answer(1) == ["dropped"])
    #expect(connection.answer(1, isHolder: true) == ["answer"])
    #expect(try connection.hold() == nil, "there is no request to hold")
    #expect(connection.read([.start("/b"), .last]) == ["respond 2 /b with 0"])
    #expect(try connection.hold() == 2)
    connection.release(2)
    #expect(connection.answer(2, isHolder: true) == ["dropped"])
    #expect(connection.answer(2) == ["answer"])
  }

  @Test(arguments: [(HTTPVersion.http1_1, true), (.http1_0, false)])
  mutating func `an HTTP/1.0 request gets no interim answer`(version: HTTPVersion, isWritten: Bool)
  {
    #expect(connection.read([.start("/a", version: version)]) == ["respond 1 /a with 0 so far"])
    #expect(connection.interim(1) == isWritten)
  }

  // MARK: Refusals

  @Test mutating func `a refused head gets its answer, and its body is discarded`() {
    #expect(connection.read([.start("/a", [("Host", "y")]), .bytes(3)]) == ["refuse 1 400"])
    #expect(connection.answer(1) == ["answer, last"])
    #expect(connection.on(.answerLeft) == ["timer 5", "close output"])
    #expect(connection.read([.bytes(4)]) == [])
    #expect(connection.read([.last]) == ["close"])
  }

  @Test mutating func `the connection reads nothing after an unsupported transfer coding`() {
    let coding = [("Transfer-Encoding", "gzip")]
    #expect(connection.read([.start("/a", coding), .bytes(3)]) == ["refuse 1 501"])
    #expect(connection.mayRead() == false)
    #expect(connection.read([.last, .start("/b"), .last]) == [])
    #expect(connection.answer(1) == ["answer, last"])
    #expect(connection.on(.answerLeft) == ["close", "read"])
  }

  @Test mutating func `invalid bytes are refused after the requests before them are answered`() {
    #expect(connection.read([.start("/a"), .last, .start("/b"), .last]) == ["respond 1 /a with 0"])
    #expect(connection.on(.failed(.invalid(WireError(.badRequest, "x")))) == [])
    #expect(connection.mayRead() == false)
    #expect(connection.answer(1) == ["answer", "respond 2 /b with 0"])
    #expect(connection.answer(2) == ["answer", "refuse 3 400"])
    #expect(connection.on(.failed(.undecoded)) == [], "the rest does not matter")
    #expect(connection.answer(3) == ["answer, last"])
    #expect(connection.on(.answerLeft) + connection.on(.answerLeft) == [])
    #expect(connection.on(.answerLeft) == ["close", "read"])
  }

  private static let wrong = ConnectionStateMachine.Input.failed(
    .invalid(WireError(.badRequest, "x")))

  @Test mutating func `an invalid body is refused before its request is passed on`() {
    #expect(connection.on(.received(.start("/a"))) == [])
    #expect(connection.on(Self.wrong) == ["refuse 1 400"])
  }

  @Test(arguments: [true, false])
  mutating func `the responder of a begun request learns that the body is invalid`(
    waits: Bool
  ) throws {
    #expect(connection.read([.start("/a"), .bytes(3)]) == ["respond 1 /a with 3 so far"])
    if waits { #expect(connection.on(.bodyAwaited(serial: 1)) == []) }
    #expect(connection.on(Self.wrong) == (waits ? ["fail body 400", "timer 10"] : ["timer 10"]))
    #expect(connection.mayRead() == false)
    #expect(connection.on(.failed(.undecoded)) == [], "the rest does not matter")
    #expect(connection.on(.bodyAwaited(serial: 1)) == ["fail body 400"])
    #expect(throws: WireError.self) { try connection.hold() }
    #expect(connection.answer(1) == ["answer, last"])
    #expect(connection.on(.answerLeft) == ["timer 5", "close output"])
    #expect(connection.on(.timerFired) == ["close", "read"])
  }

  @Test mutating func `an invalid body of a held request closes the connection`() throws {
    #expect(connection.read([.start("/a")]) == ["respond 1 /a with 0 so far"])
    #expect(try connection.hold() == 1)
    #expect(connection.on(Self.wrong) == ["close", "read"])
    #expect(connection.on(.closed) == ["tell holder"])
  }

  @Test mutating func `a late body of a held request changes nothing`() throws {
    #expect(connection.read([.start("/a")]) == ["respond 1 /a with 0 so far"])
    #expect(try connection.hold() == 1)
    connection.pass(.seconds(10))
    #expect(connection.on(.timerFired) == ["timer 10"])
    #expect(connection.answer(1, isHolder: true) == ["answer"])
  }

  @Test mutating func `answers leave before an invalid body closes the connection`() {
    #expect(connection.read([.start("/a"), .last]) == ["respond 1 /a with 0"])
    #expect(connection.answer(1) == ["answer"])
    #expect(connection.read([.start("/b")]) == ["respond 2 /b with 0 so far"])
    #expect(connection.answer(2) == ["answer"])
    #expect(connection.on(Self.wrong) == [])
    #expect(connection.on(.answerLeft) == [])
    #expect(connection.on(.answerLeft) == ["timer 5", "close output"])
    #expect(connection.on(.timerFired) == ["close", "read"])
  }

  @Test mutating func `a network error closes the connection, but a cut-off request does not`() {
    #expect(connection.on(.failed(.cutOff)) == [])
    #expect(connection.on(.failed(.undecoded)) == ["close"])
    #expect(connection.on(.failed(.broken)) == ["close"])
  }

  // MARK: Ends

  @Test mutating func `a client that closes its output gets all its answers`() {
    let parts: [HTTPServerRequestPart] = [
      .start("/a"), .last, .start("/b"), .last, .start("/c"), .bytes(1),
    ]
    #expect(connection.read(parts) == ["respond 1 /a with 0"])
    #expect(connection.on(.inputClosed) == [])
    #expect(connection.answer(1) == ["answer", "respond 2 /b with 0"])
    #expect(connection.on(.answerLeft) == [])
    #expect(connection.answer(2) == ["answer, last"])
    #expect(connection.on(.answerLeft) == ["close"])
  }

  @Test mutating func `an incomplete body fails when the client stops sending`() {
    #expect(connection.read([.start("/a")]) == ["respond 1 /a with 0 so far"])
    #expect(connection.on(.bodyAwaited(serial: 1)) == [])
    #expect(connection.on(.inputClosed) == ["fail body"])
    #expect(connection.on(.bodyAwaited(serial: 1)) == ["fail body"])
    #expect(connection.on(.closed) == [])
  }

  @Test(arguments: [true, false])
  mutating func `a holder is told once that the client is gone`(isHalf: Bool) throws {
    #expect(connection.read([.start("/a"), .last]) == ["respond 1 /a with 0"])
    #expect(try connection.hold() == 1)
    #expect(connection.on(isHalf ? .inputClosed : .closed) == ["tell holder"])
    let last = isHalf ? ["answer, last"] : ["dropped"]
    #expect(connection.answer(1, isHolder: true) == last)
    #expect(connection.on(.closed) == [])
  }

  @Test mutating func `a stopping daemon closes idle connections and answers current requests`() {
    var idle = connection
    #expect(idle.on(.draining) == ["close"])
    #expect(connection.read([.start("/a"), .last, .start("/b"), .last]) == ["respond 1 /a with 0"])
    #expect(connection.on(.draining) == [])
    #expect(connection.answer(1) == ["answer, last"])
    #expect(connection.on(.answerLeft) == ["close"])
    #expect(connection.read([.start("/c"), .last]) == [])
  }

  @Test(arguments: [("Connection", "close"), ("Upgrade", "h2c")])
  mutating func `a connection answers its last request and reads nothing after it`(
    field: (String, String)
  ) {
    #expect(connection.read([.start("/a", [field]), .last]) == ["respond 1 /a with 0"])
    #expect(connection.mayRead() == false)
    #expect(connection.on(.failed(.invalid(WireError(.badRequest, "x")))) == [])
    #expect(connection.answer(1) == ["answer, last"])
    #expect(connection.on(.answerLeft) == ["close", "read"])
  }

  @Test(arguments: [(-1, false), (0, false), (1, true)])
  mutating func `the size of a discarded body is bounded`(more: Int, isClosed: Bool) {
    #expect(connection.read([.start("/a")]) == ["respond 1 /a with 0 so far"])
    #expect(connection.answer(1) == ["answer"])
    let body = HTTPServerRequestPart.bytes(ConnectionStateMachine.discardedMax + more)
    #expect(connection.read([body]) == (isClosed ? ["close"] : []))
    guard !isClosed else { return }
    #expect(connection.read([.last, .start("/b"), .last]) == ["respond 2 /b with 0"])
  }

  // MARK: Time

  @Test mutating func `an idle connection is closed when its idle time is over`() {
    connection.pass(.seconds(4))
    #expect(connection.read([.start("/a"), .last]) == ["respond 1 /a with 0"])
    connection.pass(.seconds(100))
    #expect(connection.on(.timerFired) == ["timer 10"], "an answer is due")
    #expect(connection.answer(1) == ["answer"])
    connection.pass(.seconds(3))
    #expect(connection.on(.timerFired) == ["timer 7"])
    connection.pass(.seconds(7))
    #expect(connection.on(.timerFired) == ["close"])
  }

  @Test mutating func `a late body is refused even if some of its bytes arrive in time`() {
    #expect(connection.read([.start("/a")]) == ["respond 1 /a with 0 so far"])
    connection.pass(.seconds(9))
    #expect(connection.read([.bytes(1)]) == [])
    #expect(connection.on(.timerFired) == ["timer 1"])
    #expect(connection.on(.bodyAwaited(serial: 1)) == ["deliver 1"])
    #expect(connection.on(.bodyAwaited(serial: 1)) == [])
    connection.pass(.seconds(1))
    #expect(connection.on(.timerFired) == ["fail body 408", "timer 10"])
    #expect(connection.on(.bodyAwaited(serial: 1)) == ["fail body 408"])
    #expect(connection.answer(1) == ["answer, last"])
    #expect(connection.on(.answerLeft) == ["timer 5", "close output"])
    #expect(connection.on(.timerFired) == ["close"])
  }

  @Test mutating func `a late body after the answer closes the connection`() {
    #expect(connection.read([.start("/a")]) == ["respond 1 /a with 0 so far"])
    #expect(connection.answer(1) == ["answer"])
    connection.pass(.seconds(10))
    #expect(connection.on(.timerFired) == ["close"])
  }

  @Test mutating func `an unknown sender's body gets less time`() {
    #expect(connection.on(.bodyHurried(.seconds(3))) == [], "there is no request")
    #expect(connection.read([.start("/a")]) == ["respond 1 /a with 0 so far"])
    connection.pass(.seconds(1))
    #expect(connection.on(.bodyHurried(.seconds(3))) == ["timer 2"])
    connection.pass(.seconds(2))
    #expect(connection.on(.timerFired) == ["timer 10"])
    #expect(connection.on(.bodyAwaited(serial: 1)) == ["fail body 408"])
  }

  // MARK: Any order

  /// For any order of inputs, only one request is under way at a time, and serials rise. Each wait
  /// for a body ends exactly once. After the connection's end no request begins.
  @Test func `the connection keeps its rules for any order of inputs`() {
    for seed in 1...400 as ClosedRange<UInt64> {
      var walk = RandomWalk(seed: seed)
      for _ in 0..<200 { walk.step() }
      walk.finish()
      #expect(walk.problems.isEmpty, "seed \(seed): \(walk.problems)")
    }
  }
}

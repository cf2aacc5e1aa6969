import NIOCore
import NIOHTTP1
import RelayHTTP

/// Parts of requests, as the parser delivers them.
extension HTTPServerRequestPart {
  static func start(
    _ path: String = "/", _ fields: [(String, String)] = [], version: HTTPVersion = .http1_1
  ) -> HTTPServerRequestPart {
    let headers = HTTPHeaders([("Host", "x")] + fields)
    return .head(HTTPRequestHead(version: version, method: .POST, uri: path, headers: headers))
  }

  static func bytes(_ count: Int) -> HTTPServerRequestPart {
    .body(ByteBuffer(repeating: 0x20, count: count))
  }

  static let last = HTTPServerRequestPart.end(nil)
}

/// Gives a state machine random inputs, in an order that a channel could produce, and checks the
/// rules that must hold.
struct RandomWalk {
  private var machine = ConnectionStateMachine(idle: .seconds(10), at: .uptimeNanoseconds(0))
  private var random: UInt64
  private var now = NIODeadline.uptimeNanoseconds(0)
  private var isInRequest = false
  private var isEnded = false
  private var isOver = false
  private var asked: UInt32 = 0
  private var answered: UInt32 = 0
  private var unsent = 0
  private var waits = 0
  private(set) var problems: [String] = []

  init(seed: UInt64) { random = seed &* 0x9E37_79B9_7F4A_7C15 }

  private mutating func draw(_ bound: UInt64) -> UInt64 {
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (random >> 33) % bound
  }

  mutating func step() {
    now = now + .milliseconds(Int64(draw(2_000)))
    switch draw(12) {
    case 0...4: receive()
    case 5: on(.readEnded)
    case 6: wait()
    case 7, 8: answer()
    case 9: leave()
    case 10: on([.writabilityChanged, .timerFired, .bodyHurried(.seconds(2))][Int(draw(3))])
    default: if draw(20) == 0 { breakOff() }
    }
  }

  /// Closes the channel. After that, no wait for a body may be left.
  mutating func finish() {
    on(.closed)
    if waits != 0 { problems.append("\(waits) waits for a body did not end") }
  }

  private mutating func receive() {
    guard !isEnded else { return }
    if !isInRequest {
      let fields = draw(10) == 0 ? [("Host", "y")] : []
      on(.received(.start("/", fields)))
    } else if draw(2) == 0 {
      on(.received(.bytes(8)))
    } else {
      on(.received(.last))
      isInRequest = false
      return
    }
    isInRequest = true
  }

  private mutating func wait() {
    guard waits == 0, asked > answered else { return }
    waits = 1
    on(.bodyAwaited(serial: asked))
  }

  private mutating func answer() {
    guard waits == 0, asked > answered else { return }
    let form = machine.beginWriting(
      serial: asked, isHolder: false, isInterim: false, isLast: true)
    guard form != nil else { return }
    unsent += 1
    answered = asked
    on(.answerWritten(serial: asked))
  }

  private mutating func leave() {
    guard unsent > 0 else { return }
    unsent -= 1
    on(.answerLeft)
  }

  private mutating func breakOff() {
    let wrong = WireError(.badRequest, "x")
    let input: ConnectionStateMachine.Input =
      [.inputClosed, .failed(.invalid(wrong)), .closed, .draining][Int(draw(4))]
    if case .draining = input {} else { isEnded = true }
    on(input)
  }

  /// Whether `input` may close the connection at once: a late body, or a lost network.
  private static func mayCutOff(_ input: ConnectionStateMachine.Input) -> Bool {
    switch input {
    case .timerFired, .closed: true
    default: false
    }
  }

  private mutating func on(_ input: ConnectionStateMachine.Input) {
    if case .closed = input { isOver = true }
    for action in machine.handle(input, isWritable: true, at: now) {
      switch action {
      case .respond(_, _, let serial), .refuse(_, let serial):
        if serial <= asked { problems.append("\(serial) began twice") }
        if asked > answered { problems.append("two at a time") }
        if isOver { problems.append("\(serial) began after the end") }
        asked = serial
      case .deliver, .failBody:
        if waits == 0 { problems.append("a body for no wait") }
        waits = 0
      case .close:
        if unsent > 0, !Self.mayCutOff(input) { problems.append("closed before its answers left") }
      case .tellHolder, .read, .setTimer, .closeOutput: break
      }
    }
  }
}

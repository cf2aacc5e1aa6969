package import NIOCore

/// Decides what one HTTP/1.1 connection does: it answers one request at a time, in order. The state
/// machine has no channel and no clock: `HTTPConnection` passes inputs to `handle` and performs the
/// actions that `handle` returns.
///
/// Memory is bounded: while `WaitingParts.countMax` parts or more wait, no further read begins.
package struct ConnectionStateMachine: Sendable {
  /// How near the connection is to its end. The phase never goes back to an earlier case.
  enum Phase: Int {
    case open
    /// The connection ends after the answers to the requests that have begun.
    case draining
    /// No further request begins. The connection closes once all answers have left.
    case leaving
    /// All answers have left, and the rest of a body is discarded.
    case lingering
    case closed
  }

  /// After its last answer, the connection waits at most `lingering` for the rest of the request's
  /// body. After any answer, it discards at most `discardedMax` bytes of the request's body.
  static let lingering = TimeAmount.seconds(5)
  package static let discardedMax = 16 * 1_024 * 1_024

  let idle: TimeAmount
  var phase = Phase.open
  var current: CurrentRequest?
  var waiting = WaitingParts()
  /// The answer to invalid bytes that arrived after all waiting parts; `nil` means that there are
  /// no such bytes.
  var refusal: WireError?
  var serial: UInt32 = 0
  /// How many answers have not left for the network.
  var unsent = 0
  var isInputClosed = false
  /// True if a read was postponed until fewer parts wait.
  var isReadWanted = false
  /// True if the parser may deliver more parts of the bytes read last.
  var isReading = false
  var lastHeard: NIODeadline
  /// Whether the channel was writable when the current input came; `now` is the time of that input.
  var isWritable = true
  var now: NIODeadline
  var actions: [Action] = []

  /// - Parameter idle: the connection closes if nothing arrives for this long while no answer is
  ///   due; a body must arrive within this time.
  package init(idle: TimeAmount, at now: NIODeadline) {
    self.idle = idle
    self.now = now
    lastHeard = now
  }

  var isLeaving: Bool { phase.rawValue >= Phase.leaving.rawValue }

  /// - Parameter isWritable: false while the client does not read its answers. While it is false,
  ///   no request begins, because a waiting request takes less memory than an answer.
  /// - Returns: the actions to perform, in this order. Performing an action may cause a further
  ///   input at once.
  package mutating func handle(
    _ input: Input, isWritable: Bool, at now: NIODeadline
  ) -> [Action] {
    (self.isWritable, self.now) = (isWritable, now)
    switch input {
    case .received(let part): receive(part)
    case .readEnded: endRead()
    case .writabilityChanged: advance()
    case .inputClosed: endInput()
    case .failed(let failure): fail(failure)
    case .draining: drain()
    case .closed: end()
    case .bodyAwaited(let serial): awaitBody(of: serial)
    case .bodyHurried(let time): hurryBody(within: time)
    case .answerWritten(let serial): finishAnswer(to: serial)
    case .answerLeft:
      unsent -= 1
      depart()
    case .timerFired: checkTime()
    }
    var actions: [Action] = []
    swap(&actions, &self.actions)
    return actions
  }
}

package import NIOCore

/// What one HTTP/1.1 connection does: one request at a time, in order. It has no channel and no
/// clock: `HTTPConnection` passes inputs to `handle` and performs the actions it returns.
///
/// Memory is bounded: when `WaitingParts.countMax` parts wait, nothing more is read beyond the
/// current read burst.
package struct ConnectionStateMachine: Sendable {
  /// How far the connection is on its way to its end. A later case never goes back.
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

  /// How long, and how many bytes, the connection still reads after its last answer.
  static let lingering = TimeAmount.seconds(5)
  package static let discardedMax = 16 * 1_024 * 1_024

  let idle: TimeAmount
  var phase = Phase.open
  var current: CurrentRequest?
  var waiting = WaitingParts()
  /// The answer to bytes that follow all waiting parts and are no valid request.
  var refusal: WireError?
  var serial: UInt32 = 0
  /// How many answers have not left for the network.
  var unsent = 0
  var isInputClosed = false
  /// A read was put off until there is room.
  var isReadWanted = false
  /// More parts of the same read may follow.
  var isReading = false
  var lastHeard: NIODeadline
  /// The channel's state and the time of the input that is handled.
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

  /// - Parameter isWritable: false while the client does not read its answers. No request begins
  ///   then: a waiting request takes less memory than an answer.
  /// - Returns: what to do, in this order. Actions may lead to further inputs at once.
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

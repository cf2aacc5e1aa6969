import RelayCore

/// Names one connection, from the attempt to open it until it is gone. Never given twice.
package struct LinkID: Hashable, Comparable, Sendable {
  package var number: UInt64
  package init(_ number: UInt64) { self.number = number }
  package static func < (left: LinkID, right: LinkID) -> Bool { left.number < right.number }
}

/// What we know of one connection: how many streams it may carry now, and whether it still lives.
package struct Link: Sendable {
  private let limits: EngineLimits
  private let probation: Bool
  private var state: State
  package private(set) var inFlight = 0
  /// The provider's limit as it stands. Before its settings arrive HTTP/2 lets us assume 100.
  private var streamsAllowed = 100
  /// The provider has accepted our credential on this connection.
  package private(set) var isProven = false
  /// Last sign of life, or the moment it became owed.
  private var quietSince: Uptime

  private enum State: Equatable {
    /// → open, or gone.
    case opening(until: Uptime)
    /// → awaitingPong, draining or gone.
    case open
    /// A ping is out → open on any byte, else gone.
    case awaitingPong(until: Uptime, draining: Bool)
    /// Takes nothing new → gone when the last stream ends.
    case draining
  }

  package enum TimerAction: Equatable { case none, ping, close(Reason) }
  package enum Reason: String, Equatable, Sendable {
    case connectTimeout = "no HTTP/2 connection within the time allowed"
    case silent = "no answer to a ping"
    case drained = "drained"
    case stopped = "stopped"
  }

  package init(at now: Uptime, limits: EngineLimits, probation: Bool) {
    self.limits = limits
    self.probation = probation
    state = .opening(until: now + limits.connectTimeout)
    quietSince = now
  }

  package var isOpening: Bool { if case .opening = state { true } else { false } }
  package var isOpen: Bool {
    switch state {
    case .open, .awaitingPong(_, draining: false): true
    default: false
    }
  }
  package var isDraining: Bool {
    switch state {
    case .draining, .awaitingPong(_, draining: true): true
    default: false
    }
  }

  /// Streams that may be begun now. A connection that owes us a pong gets nothing new.
  package var room: Int {
    guard state == .open else { return 0 }
    let allowed = min(streamsAllowed, limits.streamsMax, probation && !isProven ? 1 : .max)
    return max(0, allowed - inFlight)
  }

  package mutating func opened(at now: Uptime) {
    guard isOpening else { return }
    state = .open
    quietSince = now
  }

  /// The provider said how many streams it takes; it may say so again at any time, and less.
  package mutating func allowed(_ streams: Int) { streamsAllowed = streams }

  package mutating func began(at now: Uptime) {
    // Silence before there was a question is no sign of a stall.
    if inFlight == 0 { quietSince = max(quietSince, now) }
    inFlight += 1
  }

  package mutating func ended(proof: Bool) {
    precondition(inFlight > 0, "more streams ended on a connection than were begun")
    inFlight -= 1
    if proof { isProven = true }
  }

  /// Bytes came in.
  package mutating func heard(at now: Uptime) {
    quietSince = max(quietSince, now)
    if case .awaitingPong(_, let draining) = state { state = draining ? .draining : .open }
  }

  /// The provider said goodbye, or we want to be rid of it.
  package mutating func drain() {
    switch state {
    case .opening, .draining: return
    case .open: state = .draining
    case .awaitingPong(let until, _): state = .awaitingPong(until: until, draining: true)
    }
  }

  package var nextTimer: Uptime {
    switch state {
    case .opening(let until), .awaitingPong(let until, _): until
    case .open, .draining: quietSince + (inFlight > 0 ? limits.stallAfter : limits.idlePing)
    }
  }

  package mutating func timerFired(at now: Uptime) -> TimerAction {
    guard nextTimer <= now else { return .none }
    switch state {
    case .opening: return .close(.connectTimeout)
    case .awaitingPong: return .close(.silent)
    case .open, .draining:
      state = .awaitingPong(until: now + limits.pongWithin, draining: state == .draining)
      return .ping
    }
  }
}

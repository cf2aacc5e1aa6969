import RelayCore

/// Names one connection, from the attempt to open it until it is gone. A name is never used twice.
package struct LinkID: Hashable, Comparable, Sendable {
  package var number: UInt64
  package init(_ number: UInt64) { self.number = number }
  package static func < (left: LinkID, right: LinkID) -> Bool { left.number < right.number }
}

/// The state of one connection: how many streams it may carry now, and whether the provider still
/// answers on it.
package struct Link: Sendable {
  private let limits: EngineLimits
  private let probation: Bool
  private var state: State
  package private(set) var inFlight = 0
  /// The most streams that the provider allows now. We assume 100 until the provider's SETTINGS
  /// arrive.
  private var streamsAllowed = 100
  /// True if the provider has accepted our credential on this connection.
  package private(set) var isProven = false
  /// The time of the last received bytes, or of the last request that began while no other request
  /// was open, whichever is later.
  private var quietSince: Uptime

  private enum State: Equatable {
    /// The connection is being opened. The next state is `open`, unless the connection ends.
    case opening(until: Uptime)
    /// The connection takes requests. The next state is `awaitingPong` or `draining`, unless the
    /// connection ends.
    case open
    /// A ping has been sent. Any byte leads back to `open` or `draining`. Without any byte the
    /// connection ends.
    case awaitingPong(until: Uptime, draining: Bool)
    /// The connection accepts no new stream. The next state is `awaitingPong`, unless the last
    /// stream ends: then the connection ends.
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

  /// How many streams may begin now. A connection that awaits a pong gets no new stream.
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

  /// The provider announced how many streams it allows. The provider may change the number at any
  /// time.
  package mutating func allowed(_ streams: Int) { streamsAllowed = streams }

  package mutating func began(at now: Uptime) {
    // Silence while no request was open is no sign of a stall.
    if inFlight == 0 { quietSince = max(quietSince, now) }
    inFlight += 1
  }

  package mutating func ended(proof: Bool) {
    precondition(inFlight > 0, "more streams ended on a connection than were begun")
    inFlight -= 1
    if proof { isProven = true }
  }

  /// The provider sent bytes.
  package mutating func heard(at now: Uptime) {
    quietSince = max(quietSince, now)
    if case .awaitingPong(_, let draining) = state { state = draining ? .draining : .open }
  }

  /// Stops new streams, because the provider sent GOAWAY or we replace the connection.
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

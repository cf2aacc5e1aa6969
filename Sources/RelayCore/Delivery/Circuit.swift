/// Whether a route sends, and how much at once. The circuit opens when the provider refuses the
/// route, and in an outage; a probe that is answered closes it.
///
/// ```
/// closed ──later(route), or an outage──▶ open(until) ──time──▶ probing ──answered──▶ closed
///                                          ▲                     └──not, or later(route)──┐
///                                          └─────────────────────────────────────────────┘
/// ```
/// As with any circuit breaker, *closed* lets pushes through. An outage begins when the attempts of
/// `outageDevices` devices in a row fail without one answer in between. The other lanes then wait
/// in the route and spend no attempts and no budget. After a successful probe the route takes a few
/// lanes, and then more and more.
package struct Circuit: Sendable {
  package enum State: Hashable, Sendable {
    case closed
    case open(until: Instant)
    case probing
  }

  package private(set) var state = State.closed
  private(set) var lastError: String?
  private let inFlightMax: Int
  /// How many attempts may be in flight now. After a stop this is a small number; each answer
  /// raises it by one, and a provider that asks for fewer pushes at once lowers it by a quarter.
  private var room: Int
  private let outageDevices: Int?
  private var probe: Span
  /// Devices whose attempts failed since the last answer; never more than `outageDevices`.
  private var failing: Set<Failing> = []
  private var probing: PushAttempt.ID?

  private struct Failing: Hashable {
    var partition: PartitionID
    var device: Int
  }

  /// How many devices in a row without an answer are an outage. Fewer devices may be slow for
  /// causes of their own.
  package static let outageDevicesDefault = 20
  /// The room after a stop. A provider that is back must not get all pushes at once, because that
  /// load may have been the cause of its failure.
  package static let roomAfterStop = 50
  /// The least room, even if a provider keeps asking for fewer pushes at once.
  package static let roomAtLeast = 10

  /// - Parameter outageDevices: how many devices in a row without an answer are an outage; `nil`
  ///   means that no number of such devices is an outage.
  init(inFlightMax: Int, probe: Span, outageDevices: Int?) {
    self.inFlightMax = inFlightMax
    room = inFlightMax
    self.probe = probe
    self.outageDevices = outageDevices
  }

  /// Whether an attempt may begin now, beside `inFlight` others.
  func mayBegin(inFlight: Int, at now: Instant) -> Bool {
    switch state {
    case .closed: inFlight < room
    case .probing: false
    case .open(let until): until <= now
    }
  }

  /// An attempt is in flight. The first attempt while the circuit is open is the route's probe.
  mutating func began(_ attempt: PushAttempt.ID) {
    guard case .open = state else { return }
    (state, probing) = (.probing, attempt)
  }

  mutating func ended(_ verdict: Verdict, of attempt: PushAttempt.ID, at now: Instant) {
    // An attempt that began before the stop does not show the present state: only the probe does.
    let isProbe = probing == attempt
    if isProbe { probing = nil }
    switch verdict {
    case .later(_, .route, let reason):
      stop(reason, at: now)
    case .later(_, .attempt, let reason), .later(_, .unsent, let reason):
      if isProbe || isOutage(with: attempt) { stop(reason, at: now) }
      if state == .closed { lastError = reason.text }
    case .later(_, .pace, let reason):
      answered(isProbe)
      room = max(min(inFlightMax, Self.roomAtLeast), room - room / 4)
      if state == .closed { lastError = reason.text }
    case .later(_, .recalled, _):
      // A recalled push does not show the provider's state, so the next attempt is the probe.
      if isProbe { state = .open(until: now) }
    case .delivered, .deliveredElsewhere:
      answered(isProbe)
      if state == .closed { lastError = nil }
    case .later(_, .device, let reason), .later(_, .quarantine, let reason),
      .gone(_, let reason), .rejected(let reason), .tooLarge(let reason):
      answered(isProbe)
      if state == .closed { lastError = reason.text }
    }
  }

  private mutating func stop(_ reason: Verdict.Reason, at now: Instant) {
    lastError = reason.text
    state = .open(until: now + probe)
    room = min(inFlightMax, Self.roomAfterStop)
    probing = nil
  }

  private mutating func answered(_ isProbe: Bool) {
    if isProbe { state = .closed }
    if room < inFlightMax, state == .closed { room += 1 }
    if !failing.isEmpty { failing = [] }
  }

  private mutating func isOutage(with attempt: PushAttempt.ID) -> Bool {
    guard let outageDevices, state == .closed else { return false }
    failing.insert(Failing(partition: attempt.partition, device: attempt.device))
    return failing.count >= outageDevices
  }

  /// Sets a new time between probes, which applies from the next stop on.
  mutating func reconfigure(probe: Span) { self.probe = probe }

  /// The route has another provider: a stopped route is probed at once. A probe in flight went to
  /// the earlier provider, so its result does not count for the new provider.
  mutating func renew(at now: Instant) {
    failing = []
    switch state {
    case .closed: break
    case .open(let until): state = .open(until: min(until, now))
    case .probing: (state, probing) = (.open(until: now), nil)
    }
  }
}

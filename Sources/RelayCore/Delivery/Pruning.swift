import DequeModule

/// Whether the relay believes a provider that reports addresses as dead, separately for each route.
///
/// ```
/// watching ──many at once──▶ stopped(until) ──time──▶ probing ──few──▶ watching
///                                ▲                      │ many again, for twice as long
///                                └──────────────────────┘
/// ```
/// A few dead tokens among many answers are normal for any app. A sudden large share of them means
/// that our own environment, topic or key is wrong. So each report of a dead address is held for a
/// moment. If many such reports come together, the relay believes no report: the reported devices
/// rest in quarantine, and are all tried again at one time. All other devices are woken as before.
///
/// A user counts once, and a user with a dead token that never took a push counts half. A user may
/// register any number of invented tokens, and must not stop the pruning of all other users in this
/// way.
///
/// If the route has never taken a push, and two or more devices are reported dead without a date,
/// no report without a date is believed, even if the reports are few. A wrong environment, topic or
/// key looks like this in a small app. A date is the provider's proof that it knew the token.
package struct Pruning: Hashable, Sendable {
  package struct Rule: Hashable, Sendable {
    /// How long one report of a dead address waits for other reports.
    package var hold = Span.seconds(2)
    /// How long one report waits for other reports after a quarantine, when answers may come
    /// slowly.
    package var holdInDoubt = Span.seconds(30)
    /// For how many users the newest answers are evaluated together.
    package var window = 100
    /// Pruning stops if at least `least` of the users in the window, and at least `percent` percent
    /// of them, have a device that is reported dead.
    package var least = 10
    /// The percentage of users with a dead device at which pruning stops, if they are also at least
    /// `least` users.
    package var percent = 20
    /// Before a first push is accepted, pruning stops if this many users have a device that is
    /// reported dead.
    package var untriedUsers = 3
    /// The length of the first quarantine. A quarantine that follows at once is twice as long, up
    /// to `quarantineMax`.
    package var quarantine = Span.minutes(5)
    package var quarantineMax = Span.hours(6)

    package init() {}
  }

  /// Why pruning has stopped: the answers that led to a quarantine.
  package struct Stop: Hashable, Sendable {
    /// Of the `users` users whose newest answers were evaluated, `dead` have an address that is
    /// reported dead.
    package var dead: Int
    package var users: Int
    /// The provider's reason in the report at which pruning stopped.
    package var reason: String
    /// When the devices in quarantine are tried again.
    package var until: Instant
  }

  /// The device that an answer is about.
  package struct Subject: Hashable, Sendable {
    package var user: UserID
    package var client: ClientID
    /// True if the provider has accepted a push for the device's address before, so that the
    /// address was not invented.
    package var hasTaken: Bool
  }

  /// The decision on a report that was held.
  package struct Judgement: Hashable, Sendable {
    package var attempt: PushAttempt.ID
    package var verdict: Verdict
  }

  private enum State: Hashable {
    case watching
    case stopped(Stop)
    /// The quarantine is over, and the answers for its devices are awaited.
    case probing(Stop)
  }

  /// The newest answer about a user's devices.
  private struct Voice: Hashable {
    var user: UserID
    var isDead: Bool
    var hasTaken: Bool

    /// How much the user counts, in halves of a user.
    var weight: Int { isDead && !hasTaken ? 1 : 2 }
  }

  private struct Held: Hashable {
    var attempt: PushAttempt.ID
    var client: ClientID
    var since: Instant?
    var reason: Verdict.Reason
    var heard: Instant
  }

  private var rule: Rule
  private var state = State.watching
  private var voices: Deque<Voice> = []
  /// How many answers were evaluated since the last stop.
  private var answers = 0
  /// How many reports have put a device into quarantine since the last stop.
  private var resting = 0
  private var held: Deque<Held> = []
  private var quarantine: Span
  /// Whether the provider has accepted a push on this route, since the start or before it. This is
  /// also true if each device has a provider of its own, because a report of one provider shows
  /// nothing about the other providers.
  private var isTried: Bool
  /// At most two devices that were reported dead without a date before a first push was accepted.
  private var untried: Set<ClientID> = []

  /// - Parameter isOneProvider: false where each device has a provider of its own.
  package init(_ rule: Rule = Rule(), isOneProvider: Bool = true) {
    self.rule = rule
    quarantine = rule.quarantine
    isTried = !isOneProvider
  }

  /// Sets new rules, which apply from the next report on.
  package mutating func reconfigure(_ rule: Rule) {
    if state == .watching || quarantine == self.rule.quarantine { quarantine = rule.quarantine }
    self.rule = rule
  }

  /// The route has another provider or another credential, so the devices in quarantine may be
  /// tried again at once.
  package mutating func renew(at now: Instant) {
    quarantine = rule.quarantine
    guard case .stopped(var stop) = state else { return }
    stop.until = min(stop.until, now)
    state = .stopped(stop)
  }

  /// Why pruning has stopped, until the quarantine is over and enough answers for its devices have
  /// come. `nil` means that pruning is not stopped.
  package var stop: Stop? {
    switch state {
    case .watching: nil
    case .stopped(let stop), .probing(let stop): stop
    }
  }

  /// An attempt's verdict has arrived.
  ///
  /// - Returns: the verdict to settle now. `nil` means that the verdict is held, and `judged`
  ///   returns it later.
  package mutating func heard(
    _ verdict: Verdict, of attempt: PushAttempt.ID, about subject: Subject, at now: Instant
  ) -> Verdict? {
    passTime(now)
    if subject.hasTaken { isTried = true }
    switch verdict {
    case .later, .rejected, .tooLarge:
      return verdict
    case .delivered, .deliveredElsewhere:
      if !isTried { hasWorked() }
      note(subject, isDead: false)
      return verdict
    case .gone(let since, let reason):
      if case .stopped(let stop) = state { return rest(until: stop.until, reason, at: now) }
      held.append(
        Held(
          attempt: attempt, client: subject.client, since: since, reason: reason, heard: now))
      note(subject, isDead: true)
      if !isTried, since == nil, untried.count < 2 { untried.insert(subject.client) }
      if isMass || isUntriedMass { trip(reason, at: now) }
      return nil
    }
  }

  /// The decisions on held reports, in their order.
  package mutating func judged(at now: Instant) -> [Judgement] {
    var judgements: [Judgement] = []
    while let first = held.first {
      let verdict: Verdict
      if case .stopped(let stop) = state {
        verdict = rest(until: stop.until, first.reason, at: now)
      } else if first.heard + hold <= now {
        let isDoubted = !isTried && first.since == nil && untried.count > 1
        verdict =
          isDoubted
          ? Self.quarantined(now + rule.quarantine, first.reason, at: now)
          : .gone(at: first.since, first.reason)
      } else {
        break
      }
      held.removeFirst()
      judgements.append(Judgement(attempt: first.attempt, verdict: verdict))
    }
    return judgements
  }

  /// When `judged` has a decision to return, if no other input comes.
  package var nextTimer: Instant? { held.first.map { $0.heard + hold } }

  private var hold: Span {
    if case .probing = state { max(rule.hold, rule.holdInDoubt) } else { rule.hold }
  }

  private mutating func rest(
    until: Instant, _ reason: Verdict.Reason, at now: Instant
  ) -> Verdict {
    resting += 1
    return Self.quarantined(until, reason, at: now)
  }

  private static func quarantined(
    _ until: Instant, _ reason: Verdict.Reason, at now: Instant
  ) -> Verdict {
    .later(after: max(until - now, .zero), .quarantine, Verdict.Reason("quarantined: \(reason)"))
  }

  private mutating func passTime(_ now: Instant) {
    if case .stopped(let stop) = state, stop.until <= now { state = .probing(stop) }
  }

  /// The first accepted push proves endpoint, topic and key. From then on the relay believes a
  /// small number of reports of dead tokens.
  private mutating func hasWorked() {
    isTried = true
    guard state != .watching else { return }
    state = .watching
    quarantine = rule.quarantine
    (voices, answers) = ([], 0)
  }

  /// Records an answer. While pruning is stopped, answers are only about devices outside the
  /// quarantine, so they show nothing about the devices in quarantine.
  ///
  /// After a quarantine, reports are believed again when enough answers have come: twice `least`,
  /// or as many as devices were in quarantine if these were fewer, because a small app has no more
  /// devices. If fewer than twice `least` answers have come, the share of dead devices among them
  /// must also be small, because among so few answers the dead devices may never reach `least`.
  private mutating func note(_ subject: Subject, isDead: Bool) {
    if case .stopped = state { return }
    speak(Voice(user: subject.user, isDead: isDead, hasTaken: subject.hasTaken))
    answers += 1
    guard case .probing = state, answers >= min(resting, 2 * rule.least), !isMass,
      answers >= 2 * rule.least || !isLargeShare
    else { return }
    state = .watching
    quarantine = rule.quarantine
  }

  /// A user's newest answer replaces the earlier answer. But a report of a dead token that never
  /// took a push replaces only an earlier report of that kind.
  private mutating func speak(_ voice: Voice) {
    if let index = voices.firstIndex(where: { $0.user == voice.user }) {
      guard voice.weight >= voices[index].weight else { return }
      voices.remove(at: index)
    }
    voices.append(voice)
    if voices.count > rule.window { voices.removeFirst() }
  }

  private var dead: Int { voices.count { $0.isDead } }

  /// `all` is how much all users count together, and `dead` is how much the users with a dead
  /// device count together.
  private var weights: (dead: Int, all: Int) {
    voices.reduce(into: (0, 0)) { weights, voice in
      weights.1 += voice.weight
      if voice.isDead { weights.0 += voice.weight }
    }
  }

  private var isLargeShare: Bool {
    let weights = weights
    return weights.dead * 100 >= weights.all * rule.percent
  }

  private var isMass: Bool { weights.dead >= 2 * rule.least && isLargeShare }

  private var isUntriedMass: Bool { !isTried && untried.count > 1 && dead >= rule.untriedUsers }

  private mutating func trip(_ reason: Verdict.Reason, at now: Instant) {
    state = .stopped(
      Stop(dead: dead, users: voices.count, reason: reason.text, until: now + quarantine))
    quarantine = min(quarantine * 2, rule.quarantineMax)
    (voices, answers, resting) = ([], 0, 0)
  }
}

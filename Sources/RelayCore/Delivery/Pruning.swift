import DequeModule

/// Whether a provider is believed when it calls addresses dead, route by route (L11).
///
/// ```
/// watching ──many at once──▶ stopped(until) ──time──▶ probing ──few──▶ watching
///                                ▲                      │ many again, for twice as long
///                                └──────────────────────┘
/// ```
/// A few dead tokens among many answers are the life of any app. A sudden share of them means that
/// we are wrong: another environment, topic or key. So each such word is held for a moment, and if
/// many come together none is believed: those devices rest in quarantine and are all asked again at
/// one time. Everybody else is woken as before.
package struct Pruning: Hashable, Sendable {
  package struct Rule: Hashable, Sendable {
    /// How long one word against an address waits for others.
    package var hold = Span.seconds(2)
    /// The same after a quarantine, when there is reason for doubt and answers may come slowly.
    package var holdInDoubt = Span.seconds(30)
    /// Newest answers that are looked at together.
    package var window = 100
    /// Of them dead, at least, for a stop.
    package var least = 10
    /// Of them dead, in percent, for a stop.
    package var percent = 20
    /// The first quarantine; each that follows at once is twice as long, up to `quarantineMax`.
    package var quarantine = Span.minutes(5)
    package var quarantineMax = Span.hours(6)

    package init() {}
  }

  /// Why nothing is given up at the moment.
  package struct Stop: Hashable, Sendable {
    /// Of so many newest answers, so many called an address dead.
    package var dead: Int
    package var answers: Int
    /// The last one's word.
    package var reason: String
    /// Those in quarantine are asked again then.
    package var until: Instant
  }

  /// What became of a word that was held.
  package struct Judgement: Hashable, Sendable {
    package var attempt: PushAttempt.ID
    package var verdict: Verdict
  }

  private enum State: Hashable {
    case watching
    case stopped(Stop)
    /// The quarantine is over; its answers are awaited.
    case probing(Stop)
  }

  private struct Held: Hashable {
    var attempt: PushAttempt.ID
    var since: Instant?
    var reason: Verdict.Reason
    var heard: Instant
  }

  private var rule: Rule
  private var state = State.watching
  private var answers: Deque<Bool> = []
  private var held: Deque<Held> = []
  private var quarantine: Span

  package init(_ rule: Rule = Rule()) {
    self.rule = rule
    quarantine = rule.quarantine
  }

  /// Other rules, from the next word on.
  package mutating func adopt(_ rule: Rule) {
    if state == .watching || quarantine == self.rule.quarantine { quarantine = rule.quarantine }
    self.rule = rule
  }

  /// The provider is another one, or knows another credential of ours: those in quarantine may be
  /// asked again at once.
  package mutating func renew(at now: Instant) {
    quarantine = rule.quarantine
    guard case .stopped(var stop) = state else { return }
    stop.until = min(stop.until, now)
    state = .stopped(stop)
  }

  /// Nil: words against addresses are believed.
  package var stop: Stop? {
    switch state {
    case .watching: nil
    case .stopped(let stop), .probing(let stop): stop
    }
  }

  /// An attempt's verdict.
  ///
  /// - Returns: what to settle now; nil if it is held: `judged` says it later.
  package mutating func heard(
    _ verdict: Verdict, of attempt: PushAttempt.ID, at now: Instant
  ) -> Verdict? {
    passTime(now)
    switch verdict {
    case .later, .rejected, .tooLarge:
      return verdict
    case .delivered, .deliveredElsewhere:
      note(isDead: false)
      return verdict
    case .gone(let since, let reason):
      if case .stopped(let stop) = state { return Self.quarantined(stop, reason, at: now) }
      held.append(Held(attempt: attempt, since: since, reason: reason, heard: now))
      note(isDead: true)
      if isMass { trip(reason, at: now) }
      return nil
    }
  }

  /// What became of words that were held, in their order.
  package mutating func judged(at now: Instant) -> [Judgement] {
    guard !held.isEmpty else { return [] }
    passTime(now)
    var judgements: [Judgement] = []
    while let first = held.first {
      let verdict: Verdict
      if case .stopped(let stop) = state {
        verdict = Self.quarantined(stop, first.reason, at: now)
      } else if first.heard + hold <= now {
        verdict = .gone(at: first.since, first.reason)
      } else {
        break
      }
      held.removeFirst()
      judgements.append(Judgement(attempt: first.attempt, verdict: verdict))
    }
    return judgements
  }

  /// When `judged` has something to say, though nothing else happens.
  package var nextTimer: Instant? { held.first.map { $0.heard + hold } }

  private var hold: Span {
    if case .probing = state { max(rule.hold, rule.holdInDoubt) } else { rule.hold }
  }

  private static func quarantined(_ stop: Stop, _ reason: Verdict.Reason, at now: Instant)
    -> Verdict
  {
    .later(after: stop.until - now, .device, Verdict.Reason("quarantined: \(reason)"))
  }

  private mutating func passTime(_ now: Instant) {
    if case .stopped(let stop) = state, stop.until <= now { state = .probing(stop) }
  }

  /// Answers while stopped come from those who are not in quarantine, and say nothing of it.
  private mutating func note(isDead: Bool) {
    if case .stopped = state { return }
    answers.append(isDead)
    if answers.count > rule.window { answers.removeFirst() }
    guard case .probing = state, answers.count >= 2 * rule.least, !isMass else { return }
    state = .watching
    quarantine = rule.quarantine
  }

  private var dead: Int { answers.count { $0 } }
  private var isMass: Bool {
    dead >= rule.least && dead * 100 >= answers.count * rule.percent
  }

  private mutating func trip(_ reason: Verdict.Reason, at now: Instant) {
    state = .stopped(
      Stop(dead: dead, answers: answers.count, reason: reason.text, until: now + quarantine))
    quarantine = min(quarantine * 2, rule.quarantineMax)
    answers = []
  }
}

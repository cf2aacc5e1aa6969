/// When one scope's feedback goes to its webhook: one delivery at a time, in order, the next one
/// only when the one before was taken.
///
/// ```
/// due ──next──▶ sending ──taken──▶ due, while there is more; else quiet ──rung──▶ due
///  ▲               ├──failed──▶ resting ──time──▶ due     (twice as long each time, ±20 %)
///  └───renewed──── └──refused──▶ stopped   (renewed meanwhile: due)
/// ```
/// Begins as *due*: what an earlier life left is found by looking. Durations run on the boot clock.
package struct FeedbackSending: Hashable, Sendable {
  package struct Rule: Hashable, Sendable {
    /// Items of one delivery.
    package var itemsMax = 100
    package var retryFirst = Span.seconds(1)
    /// The longest rest, unless the server itself asks for more.
    package var retryMax = Span.minutes(5)
    /// A server's wish to wait counts up to this.
    package var retryAfterMax = Span.hours(1)

    package init() {}
  }

  package enum Action: Hashable, Sendable {
    /// Read what is next and deliver it, then say `ended`.
    case deliver
    /// Ask again then, or when rung.
    case wait(until: Instant)
    /// Ask again when rung or renewed.
    case nothing
  }

  package enum Outcome: Hashable, Sendable {
    /// There was nothing to deliver.
    case empty
    case taken(hasMore: Bool)
    /// Not now, and perhaps nobody knows whether it arrived.
    case failed(after: Span?)
    /// It wants no more of it: 410.
    case refused
  }

  private enum State: Hashable {
    case quiet
    case due
    /// Renewed: it goes to a server that is not the present one any more.
    case sending(isRung: Bool, isRenewed: Bool)
    case resting(until: Instant)
    case stopped
  }

  private let rule: Rule
  private var state = State.due
  /// In a row.
  package private(set) var failures = 0

  package init(_ rule: Rule = Rule()) { self.rule = rule }

  package var isStopped: Bool { state == .stopped }

  /// Something new is durable. Legal in every state.
  package mutating func rung() {
    switch state {
    case .quiet: state = .due
    case .sending(_, let isRenewed): state = .sending(isRung: true, isRenewed: isRenewed)
    // It is looked at anyway, or its time has not come.
    case .due, .resting, .stopped: break
    }
  }

  /// Another server, or another key: it is asked at once, or as soon as what is under way has
  /// ended, whatever comes of that.
  package mutating func renewed() {
    failures = 0
    switch state {
    case .sending: state = .sending(isRung: true, isRenewed: true)
    case .quiet, .due, .resting, .stopped: state = .due
    }
  }

  package mutating func next(at now: Instant) -> Action {
    switch state {
    case .due: break
    case .resting(let until): guard until <= now else { return .wait(until: until) }
    case .quiet, .sending, .stopped: return .nothing
    }
    state = .sending(isRung: false, isRenewed: false)
    return .deliver
  }

  /// What came of the delivery. Said twice, the second time changes nothing.
  ///
  /// - Parameter draw: any number, the rest's chance.
  package mutating func ended(_ outcome: Outcome, at now: Instant, draw: UInt64) {
    guard case .sending(let isRung, let isRenewed) = state else { return }
    switch outcome {
    case .empty:
      state = isRung ? .due : .quiet
    case .taken(let hasMore):
      failures = 0
      state = hasMore || isRung ? .due : .quiet
    // The server before the reload said so: the present one has not been asked.
    case .failed where isRenewed, .refused where isRenewed:
      state = .due
    case .failed(let after):
      failures += 1
      state = .resting(until: now + rest(after, draw))
    case .refused:
      failures += 1
      state = .stopped
    }
  }

  private func rest(_ asked: Span?, _ draw: UInt64) -> Span {
    let doubled = rule.retryFirst * (Int64(1) << Int64(min(failures - 1, 30)))
    let whole = min(doubled, rule.retryMax)
    let percent = 80 + Int64(draw % 41)
    let jittered = Span(milliseconds: whole.milliseconds * percent / 100)
    return max(jittered, min(asked ?? .zero, rule.retryAfterMax))
  }
}

/// When the feedback of one scope is sent to the scope's webhook: one delivery at a time, in order,
/// each only after the server accepted the delivery before.
///
/// ```
/// due ──next──▶ sending ──taken──▶ due, while there is more; else quiet ──added──▶ due
///  ▲               ├──failed──▶ resting ──time──▶ due     (twice as long each time, ±20 %)
///  └───renewed──── └──refused──▶ stopped   (failed or refused after `renewed`: due)
/// ```
/// The first state is *due*, because items of an earlier process may wait. All instants are of the
/// boot clock.
package struct FeedbackSending: Hashable, Sendable {
  package struct Rule: Hashable, Sendable {
    /// The most items in one delivery.
    package var itemsMax = 100
    package var retryFirst = Span.seconds(1)
    /// The longest rest, before it is varied by ±20 %. The server may ask for a longer rest.
    package var retryMax = Span.minutes(5)
    /// The longest rest that a server may ask for.
    package var retryAfterMax = Span.hours(1)

    package init() {}
  }

  package enum Action: Hashable, Sendable {
    /// The caller must read the next items, deliver them, and then call `ended`.
    case deliver
    /// The caller must call `next` again at `until`, or after `renewed`.
    case wait(until: Instant)
    /// The caller must call `next` again after `feedbackAdded`, `renewed` or `ended`.
    case nothing
  }

  package enum Outcome: Hashable, Sendable {
    /// There was nothing to deliver.
    case empty
    case taken(hasMore: Bool)
    /// The delivery failed for now, although the server may have received it. `after` is the delay
    /// that the server asked for.
    case failed(after: Span?)
    /// The server refuses all further items, by status 410.
    case refused
  }

  private enum State: Hashable {
    case quiet
    case due
    /// A delivery is under way. `isRung` means that another delivery must follow. `isRenewed` means
    /// that this delivery goes to the server that was configured before the last reload.
    case sending(isRung: Bool, isRenewed: Bool)
    case resting(until: Instant)
    case stopped
  }

  private let rule: Rule
  private var state = State.due
  /// How many deliveries have failed in a row.
  package private(set) var failures = 0

  package init(_ rule: Rule = Rule()) { self.rule = rule }

  package var isStopped: Bool { state == .stopped }

  /// New items are durable. The call is legal in every state.
  package mutating func feedbackAdded() {
    switch state {
    case .quiet: state = .due
    case .sending(_, let isRenewed): state = .sending(isRung: true, isRenewed: isRenewed)
    // The next delivery reads the new items, too.
    case .due, .resting, .stopped: break
    }
  }

  /// The server or its key has changed, or an operator restarts a stopped webhook by a reload. The
  /// next delivery is tried at once, or as soon as the delivery under way has ended.
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

  /// The delivery ended. A second call changes nothing.
  ///
  /// - Parameter draw: a random number that varies the length of the rest.
  package mutating func ended(_ outcome: Outcome, at now: Instant, draw: UInt64) {
    guard case .sending(let isRung, let isRenewed) = state else { return }
    switch outcome {
    case .empty:
      state = isRung ? .due : .quiet
    case .taken(let hasMore):
      failures = 0
      state = hasMore || isRung ? .due : .quiet
    // The outcome is from the server before the reload, so the present server is tried.
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

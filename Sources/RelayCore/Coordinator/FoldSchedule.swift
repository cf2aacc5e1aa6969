/// When to fold: seldom while nothing waits, so that many changes are merged, and soon when a
/// reader, a lane or an answer waits.
struct FoldSchedule: Sendable {
  /// The time between folds while nothing waits for a fold, so that more changes are merged.
  static let patient = Span(milliseconds: 200)
  /// The time between folds while readers, lanes or answers wait; all of them share each fold.
  static let urgent = Span(milliseconds: 20)
  /// A failed fold is tried again after this time, with the same cut.
  static let retry = Span.seconds(1)

  private enum State {
    case idle(since: Instant)
    case running
    case failed(at: Instant)
  }

  private var state = State.idle(since: .zero)

  enum Action: Hashable {
    case nothing
    case cut
    case again
    case wait(until: Instant)
  }

  mutating func next(at now: Instant, isDirty: Bool, isAwaited: Bool) -> Action {
    switch state {
    case .running:
      return .nothing
    case .failed(let at):
      guard at + Self.retry <= now else { return .wait(until: at + Self.retry) }
      state = .running
      return .again
    case .idle(let since):
      guard isDirty else { return .nothing }
      let due = since + (isAwaited ? Self.urgent : Self.patient)
      guard due <= now else { return .wait(until: due) }
      state = .running
      return .cut
    }
  }

  mutating func ended(at now: Instant, isDurable: Bool) {
    state = isDurable ? .idle(since: now) : .failed(at: now)
  }

  var isRunning: Bool {
    if case .running = state { return true }
    return false
  }
}

import Synchronization

/// Whether one push may still be handed to its provider. The engine takes back a push if the user
/// may not see the push's content any more, or if the device was unregistered or lost its address.
/// The sender of the push calls `begin` before the first byte leaves.
///
/// ```
/// waiting ──begin──▶ leaving ──written──▶ left
///    ▲                  │ returned          │ returned
///    └──────────────────┴───────────────────┘
/// ```
/// A push that was taken back never leaves again. This guarantee holds at once if the push waits or
/// has left already; if the push is leaving, the guarantee holds when the push has left or ended.
/// Any thread may call these functions.
package final class Handover: Sendable {
  private enum State {
    case waiting
    case leaving
    case left
    case takenBack
    /// The push was taken back while it was leaving; the function is called when the push has left
    /// or was stopped.
    case takenBackLeaving(@Sendable () -> Void)
  }

  private let state = Mutex(State.waiting)

  package init() {}

  /// Called when the sender is about to write the push.
  ///
  /// - Returns: false if the push was taken back; the sender then answers `.later(after: nil,
  ///   .recalled, …)`.
  package func begin() -> Bool {
    state.withLock { state in
      switch state {
      case .waiting, .leaving, .left:
        state = .leaving
        return true
      case .takenBack, .takenBackLeaving: return false
      }
    }
  }

  /// The provider's connection has taken all bytes of the push.
  package func written() { settle(as: .left) }

  /// The provider did not process the push, or its bytes did not leave, so the push waits again.
  package func returned() { settle(as: .waiting) }

  /// The push has its verdict.
  package func ended() { settle(as: .left) }

  package var isTakenBack: Bool {
    state.withLock { state in
      switch state {
      case .takenBack, .takenBackLeaving: true
      case .waiting, .leaving, .left: false
      }
    }
  }

  /// Takes the push back, so that it does not leave from now on.
  ///
  /// - Parameter done: called once when a push that is leaving now has left or was stopped.
  /// - Returns: true if the push still waited, which now never leaves, or had left already; then
  ///   `done` is not called. False if the push is leaving at this moment.
  package func takeBack(_ done: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      switch state {
      case .waiting, .left, .takenBack:
        state = .takenBack
        return true
      case .leaving:
        state = .takenBackLeaving(done)
        return false
      case .takenBackLeaving(let others):
        state = .takenBackLeaving {
          others()
          done()
        }
        return false
      }
    }
  }

  private func settle(as next: State) {
    let done: (@Sendable () -> Void)? = state.withLock { state in
      switch state {
      case .waiting, .leaving, .left:
        state = next
        return nil
      case .takenBack: return nil
      case .takenBackLeaving(let done):
        state = .takenBack
        return done
      }
    }
    done?()
  }
}

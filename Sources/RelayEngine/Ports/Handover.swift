import Synchronization

/// Whether one push may still be handed to its provider. The engine takes a push back that tells
/// what its user may not see any more; its sender asks here before the first byte leaves.
///
/// ```
/// waiting ──begin──▶ leaving ──written──▶ left
///    ▲                  │ returned           │ returned
///    └──────────────────┴────────────────────┘
/// ```
/// Taken back, it never leaves again: while it waits, or after it has left, at once; while it is
/// leaving, as soon as it has left or ended. Any thread may call.
package final class Handover: Sendable {
  private enum State {
    case waiting
    case leaving
    case left
    case takenBack
    /// Taken back while it was leaving: says it when the last byte is gone.
    case takenBackLeaving(@Sendable () -> Void)
  }

  private let state = Mutex(State.waiting)

  package init() {}

  /// The sender is about to write the push.
  ///
  /// - Returns: false if it was taken back: answer `.later(after: nil, .recalled, …)`.
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

  /// All its bytes are with the provider's connection.
  package func written() { settle(as: .left) }

  /// The provider did not process it, or its bytes did not leave after all: it waits again.
  package func returned() { settle(as: .waiting) }

  /// It has its verdict.
  package func ended() { settle(as: .left) }

  package var isTakenBack: Bool {
    state.withLock { state in
      switch state {
      case .takenBack, .takenBackLeaving: true
      case .waiting, .leaving, .left: false
      }
    }
  }

  /// - Parameter done: called once when the push cannot leave any more, if that is not so now.
  /// - Returns: true if it is so now, and `done` is not called.
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

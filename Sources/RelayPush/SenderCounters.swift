import RelayCore
import Synchronization

/// What a sender on the push engine counts beside its connections. Any thread may ask and tell.
final class SenderCounters: Sendable {
  private struct Counts {
    var delivered = 0
    var unknown = 0
    var lastError: String?
  }

  private let counts = Mutex(Counts())

  /// An answer that no list of ours knows.
  func unknown() { counts.withLock { $0.unknown += 1 } }

  /// An attempt has ended so.
  func settled(_ verdict: Verdict) {
    counts.withLock { counts in
      switch verdict {
      case .delivered, .deliveredElsewhere: counts.delivered += 1
      case .gone: break
      case .later(_, _, let reason), .rejected(let reason), .tooLarge(let reason):
        counts.lastError = reason.text
      }
    }
  }

  /// The whole, as operators see it: trouble of the connections is said first.
  func status(_ engine: EngineStatus) -> PushStatus {
    let counts = counts.withLock { $0 }
    return PushStatus(
      engine: engine, delivered: counts.delivered, unknownAnswers: counts.unknown,
      lastError: engine.lastError ?? counts.lastError)
  }
}

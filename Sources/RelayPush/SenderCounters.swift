import RelayCore
import Synchronization

/// What a sender on the push engine counts besides the engine's own counters. Any thread may use
/// it.
final class SenderCounters: Sendable {
  private struct Counts {
    var delivered = 0
    var unknown = 0
    var lastError: String?
  }

  private let counts = Mutex(Counts())

  /// The provider gave an answer that the relay does not recognise.
  func unknown() { counts.withLock { $0.unknown += 1 } }

  /// An attempt ended with this verdict.
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

  /// The whole status for operators. An error of the connections takes precedence.
  func status(_ engine: EngineStatus) -> PushStatus {
    let counts = counts.withLock { $0 }
    return PushStatus(
      engine: engine, delivered: counts.delivered, unknownAnswers: counts.unknown,
      lastError: engine.lastError ?? counts.lastError)
  }
}

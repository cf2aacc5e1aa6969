package import RelayCore
package import RelayEngine
import Synchronization

/// Browsers' push services behind one route: one environment, one VAPID key, any number of hosts.
package final class WebPushSender: PushSender {
  private let settings: WebPushSettings
  private let credential: WebPushCredential
  private let engine: WebEngine
  private let now: @Sendable () -> Instant
  private let counts = Mutex(WebPushStatus())

  /// - Parameter now: the relay's clock; tokens and deadlines use it.
  package init(
    _ settings: WebPushSettings, limits: WebLimits = WebLimits(),
    now: @escaping @Sendable () -> Instant
  ) {
    self.settings = settings
    self.now = now
    credential = WebPushCredential(settings)
    engine = WebEngine(limits: limits)
  }

  package func send(
    _ push: Push, _ handover: Handover, answer: @escaping @Sendable (Verdict) -> Void
  ) {
    let token = push.address.token
    engine.send(
      within: settings.attemptTimeout, to: { WebPushRequest.host(of: token) }, handover
    ) {
      [settings, credential, now] in
      try WebPushRequest.make(
        push, credential: credential, trustRoots: settings.trustRoots,
        reach: settings.allowPrivateAddresses ? .anywhere : .internet, at: now())
    } answer: { [self] outcome in
      answer(settle(outcome))
    }
  }

  package func run() async { await engine.run() }

  package var health: SenderHealth {
    var health = SenderHealth()
    let status = status
    health.unanswered = Int64(status.unanswered)
    health.unknownAnswers = Int64(status.unknownAnswers)
    return health
  }

  package var status: WebPushStatus { counts.withLock { $0 } }

  private func settle(_ outcome: WebOutcome) -> Verdict {
    let verdict: Verdict
    var (isUnknown, isAnswered) = (false, true)
    switch outcome {
    case .failed(let failure):
      verdict = WebPushVerdicts.verdict(failure)
      isAnswered = false
    case .answered(let answer):
      verdict = WebPushVerdicts.verdict(answer)
      isUnknown = WebPushVerdicts.treatment(status: answer.status) == .unknown
    }
    counts.withLock { counts in
      if isUnknown { counts.unknownAnswers += 1 }
      if !isAnswered { counts.unanswered += 1 }
      switch verdict {
      case .delivered, .deliveredElsewhere: counts.delivered += 1
      case .gone: break
      case .later(_, _, let reason), .rejected(let reason), .tooLarge(let reason):
        counts.lastError = reason.text
      }
    }
    return verdict
  }
}

/// What a Web Push route has done. Counters count since start.
package struct WebPushStatus: Hashable, Sendable {
  /// Pushes that a push service accepted. The device may not have received them.
  package var delivered = 0
  /// Answers that the relay does not recognise. The relay tries each of these pushes again later.
  package var unknownAnswers = 0
  /// Requests that ended without an answer.
  package var unanswered = 0
  /// The last failure of a push; a dead subscription is no failure. `nil` means that there was
  /// none.
  package var lastError: String?
}

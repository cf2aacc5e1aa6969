package import RelayCore
package import RelayEngine
import Synchronization

/// Browsers' push services behind one route: one environment, one VAPID key, any number of hosts.
package final class WebPushSender: PushSender {
  private let settings: WebPushSettings
  private let credential: WebPushCredential
  private let engine: WebEngine
  private let now: @Sendable () -> Instant
  /// How many requests ended without an answer, and how many answers the relay did not recognise.
  private let unanswered = Atomic(0)
  private let unknownAnswers = Atomic(0)

  /// - Parameter now: the wall clock, for the age of tokens and the time to live of each push.
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
      answer(verdict(outcome))
    }
  }

  package func run() async { await engine.run() }

  package var health: SenderHealth {
    var health = SenderHealth()
    health.unanswered = Int64(unanswered.load(ordering: .relaxed))
    health.unknownAnswers = Int64(unknownAnswers.load(ordering: .relaxed))
    return health
  }

  private func verdict(_ outcome: Outcome) -> Verdict {
    switch outcome {
    case .failed(let failure):
      unanswered.add(1, ordering: .relaxed)
      return WebPushVerdicts.verdict(failure)
    case .answered(let answer):
      if WebPushVerdicts.treatment(status: answer.status) == .unknown {
        unknownAnswers.add(1, ordering: .relaxed)
      }
      return WebPushVerdicts.verdict(answer)
    }
  }
}

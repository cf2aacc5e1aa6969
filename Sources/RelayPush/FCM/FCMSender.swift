package import Logging
package import NIOCore
package import RelayCore
package import RelayEngine
import Synchronization

/// Firebase Cloud Messaging behind one route: one environment, one project, one service account.
package final class FCMSender: PushSender {
  private let project: String
  private let attemptTimeout: Span
  private let credential: FCMCredential
  private let engine: PushEngine
  private let web: WebEngine
  private let now: @Sendable () -> Instant
  /// How many answers the relay did not recognise.
  private let unknownAnswers = Atomic(0)

  /// - Parameter now: the wall clock, for assertions, the age of access tokens, and the time to
  ///   live of each push.
  package init(
    _ settings: FCMSettings, group: any EventLoopGroup, logger: Logger,
    now: @escaping @Sendable () -> Instant
  ) throws(PushProblem) {
    project = settings.project
    attemptTimeout = settings.engine.limits.attemptTimeout
    self.now = now
    web = WebEngine()
    credential = FCMCredential(settings.account, trustRoots: settings.engine.trustRoots, web: web)
    engine = try PushEngine(
      settings.engine, shape: FCMRequest.shape, group: group, logger: logger)
  }

  package func send(
    _ push: Push, _ handover: Handover, answer: @escaping @Sendable (Verdict) -> Void
  ) {
    attempt(
      Attempt(push: push, handover: handover, deadline: .now + attemptTimeout, answer: answer))
  }

  package func run() async {
    await withTaskGroup(of: Void.self) { [engine, web] group in
      group.addTask { await engine.run() }
      group.addTask { await web.run() }
    }
  }

  package var health: SenderHealth {
    SenderHealth(status, unknownAnswers: unknownAnswers.load(ordering: .relaxed))
  }

  package var status: EngineStatus { engine.status }

  private struct Attempt: Sendable {
    let push: Push
    let handover: Handover
    let deadline: Uptime
    let answer: @Sendable (Verdict) -> Void
    /// True if the push is sent for the second time, with a fresh access token.
    var isRenewed = false
  }

  private func attempt(_ attempt: Attempt) {
    credential.token(within: attemptTimeout, at: now()) { [self] result in
      switch result {
      case .success(let token): send(attempt, token)
      case .failure(let failure):
        attempt.answer(FCMVerdicts.verdict(withoutToken: failure))
      }
    }
  }

  private func send(_ attempt: Attempt, _ token: FCMCredential.Token) {
    let request = FCMRequest.make(
      attempt.push, project: project, token: token.text, at: now())
    engine.send(request, attempt.handover, until: attempt.deadline) { [self] outcome in
      switch outcome {
      case .failed(let failure): attempt.answer(failure.verdict)
      case .answered(let response): answered(attempt, ProviderAnswer(fcm: response), token)
      }
    }
  }

  private func answered(
    _ attempt: Attempt, _ answer: ProviderAnswer, _ token: FCMCredential.Token
  ) {
    switch answer.treatment {
    case .renew:
      credential.refused(token)
      if !attempt.isRenewed {
        var renewed = attempt
        renewed.isRenewed = true
        return self.attempt(renewed)
      }
    case .unknown: unknownAnswers.add(1, ordering: .relaxed)
    default: break
    }
    attempt.answer(answer.verdict)
  }
}

package import Logging
package import NIOCore
package import RelayCore
package import RelayEngine
import Synchronization

/// Apple's push service behind one route: one topic, one environment, one credential.
package final class APNsSender: PushSender {
  private let topic: String
  private let attemptTimeout: TimeAmount
  private let credential: APNsCredential?
  private let engine: PushEngine
  private let now: @Sendable () -> Instant
  private let counts = Mutex(Counts())

  private struct Counts {
    var delivered = 0
    var unknown = 0
    var lastError: String?
  }

  /// - Parameters:
  ///   - credential: shared by all routes of the same key; nil exactly if the settings name a
  ///     certificate.
  ///   - now: the relay's clock; provider tokens and deadlines are dated by it.
  package init(
    _ settings: APNsSettings, credential: APNsCredential?, group: any EventLoopGroup,
    logger: Logger, now: @escaping @Sendable () -> Instant
  ) throws(PushProblem) {
    topic = settings.topic
    attemptTimeout = .milliseconds(settings.limits.attemptTimeout.milliseconds)
    self.credential = credential
    self.now = now
    engine = try PushEngine(
      settings.engine, shape: APNsRequest.shape, group: group, logger: logger)
  }

  package func send(_ push: Push, answer: @escaping @Sendable (Verdict) -> Void) {
    attempt(Attempt(push: push, deadline: .now() + attemptTimeout, answer: answer))
  }

  package func run() async { await engine.run() }

  package var vitals: SenderVitals { status.vitals }

  package var status: PushStatus {
    let engine = engine.status
    let counts = counts.withLock { $0 }
    return PushStatus(
      engine: engine, delivered: counts.delivered, unknownAnswers: counts.unknown,
      lastError: engine.lastError ?? counts.lastError)
  }

  private struct Attempt: Sendable {
    let push: Push
    let deadline: NIODeadline
    let answer: @Sendable (Verdict) -> Void
    /// It goes out for the second time, with a fresh provider token.
    var isRenewed = false
  }

  private func attempt(_ attempt: Attempt) {
    let bearer: APNsCredential.Bearer?
    do {
      bearer = try credential?.bearer(at: now())
    } catch {
      let reason = Verdict.Reason("the provider token cannot be signed: \(error)")
      settle(attempt, .later(after: nil, .route, reason))
      return
    }
    let request = APNsRequest.make(attempt.push, topic: topic, bearer: bearer?.text)
    engine.send(request, until: attempt.deadline) { [self] outcome in
      switch outcome {
      case .failed(let failure):
        settle(attempt, failure.verdict)
      case .answered(let response) where response.status == 200:
        settle(attempt, .delivered)
      case .answered(let response):
        refused(attempt, response, bearer)
      }
    }
  }

  private func refused(_ attempt: Attempt, _ response: Response, _ bearer: APNsCredential.Bearer?) {
    let answer = APNsVerdicts.Answer(response)
    let treatment = APNsVerdicts.treatment(status: answer.status, reason: answer.reason)
    switch treatment {
    case .renew:
      if !attempt.isRenewed, let bearer, credential?.expired(bearer, at: now()) == .again {
        var renewed = attempt
        renewed.isRenewed = true
        self.attempt(renewed)
        return
      }
    case .reconnect: engine.replace(response.link)
    case .keep: if let bearer { credential?.tooSoon(bearer, at: now()) }
    case .unknown: counts.withLock { $0.unknown += 1 }
    case .delivered, .gone, .rejected, .attempt, .device, .route: break
    }
    settle(attempt, APNsVerdicts.verdict(treatment, answer))
  }

  private func settle(_ attempt: Attempt, _ verdict: Verdict) {
    counts.withLock { counts in
      switch verdict {
      case .delivered: counts.delivered += 1
      case .gone: break
      case .later(_, _, let reason), .rejected(let reason): counts.lastError = reason.text
      }
    }
    attempt.answer(verdict)
  }
}

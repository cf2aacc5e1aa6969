package import Logging
package import NIOCore
package import RelayCore
package import RelayEngine
import Synchronization

/// Apple's push service behind one route: one topic, one environment, one credential.
package final class APNsSender: PushSender {
  private let topic: String
  private let environment: RelayCore.Environment
  private let attemptTimeout: TimeAmount
  private let credential: APNsCredential?
  private let engine: PushEngine
  private let other: OtherEnvironment?
  private let logger: Logger
  private let now: @Sendable () -> Instant
  /// How many answers the relay did not recognise.
  private let unknownAnswers = Atomic(0)

  /// - Parameters:
  ///   - credential: shared by all routes of the same key; nil exactly if the settings name a
  ///     certificate.
  ///   - now: the relay's clock; provider tokens and deadlines use it.
  package init(
    _ settings: APNsSettings, credential: APNsCredential?, group: any EventLoopGroup,
    logger: Logger, now: @escaping @Sendable () -> Instant
  ) throws(PushProblem) {
    topic = settings.topic
    environment = settings.environment
    attemptTimeout = .milliseconds(settings.limits.attemptTimeout.milliseconds)
    self.credential = credential
    self.logger = logger
    self.now = now
    func engine(_ endpoint: APNsSettings.Endpoint) throws(PushProblem) -> PushEngine {
      try PushEngine(
        settings.engine(endpoint), shape: APNsRequest.shape, group: group, logger: logger)
    }
    self.engine = try engine(settings.endpoint)
    if let endpoint = settings.other {
      other = OtherEnvironment(try engine(endpoint))
    } else {
      other = nil
    }
  }

  /// Sends to the address's own environment first, if the route can reach that environment.
  package func send(
    _ push: Push, _ handover: Handover, answer: @escaping @Sendable (Verdict) -> Void
  ) {
    let isElsewhere = push.address.environment.map { $0 != environment } ?? false
    attempt(
      Attempt(
        push: push, handover: handover, deadline: .now() + attemptTimeout, answer: answer,
        isElsewhere: isElsewhere && other != nil))
  }

  package func run() async {
    await withDiscardingTaskGroup { [engine, other] group in
      group.addTask { await engine.run() }
      if let other { group.addTask { await other.run() } }
    }
  }

  package var health: SenderHealth {
    SenderHealth(status, unknownAnswers: unknownAnswers.load(ordering: .relaxed))
  }

  package var status: EngineStatus { engine.status }

  private struct Attempt: Sendable {
    let push: Push
    let handover: Handover
    let deadline: NIODeadline
    let answer: @Sendable (Verdict) -> Void
    /// True if the push goes to the other environment, not to the route's own.
    var isElsewhere = false
    /// True if the push is sent for the second time, with a fresh provider token.
    var isRenewed = false
    /// The refusal by the environment tried first; nil for the first attempt.
    var first: Refusal?
  }

  private struct Refusal: Sendable {
    let treatment: APNsVerdicts.Treatment
    let answer: APNsVerdicts.Answer
  }

  private func attempt(_ attempt: Attempt) {
    let bearer: APNsCredential.Bearer?
    do {
      bearer = try credential?.bearer(at: now())
    } catch {
      let reason = Verdict.Reason("the provider token cannot be signed: \(error)")
      attempt.answer(.later(after: nil, .route, reason))
      return
    }
    let request = APNsRequest.make(attempt.push, topic: topic, bearer: bearer?.text)
    let engine = attempt.isElsewhere ? other?.needed() ?? engine : engine
    engine.send(request, attempt.handover, until: attempt.deadline) { [self] outcome in
      switch outcome {
      case .failed(let failure):
        attempt.answer(
          attempt.isElsewhere ? APNsVerdicts.elsewhere(failure.verdict) : failure.verdict)
      case .answered(let response) where response.status == 200:
        heard(nil, by: attempt)
        attempt.answer(attempt.first == nil ? .delivered : .deliveredElsewhere)
      case .answered(let response):
        refused(attempt, response, bearer, engine)
      }
    }
  }

  private func refused(
    _ attempt: Attempt, _ response: Response, _ bearer: APNsCredential.Bearer?, _ engine: PushEngine
  ) {
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
    case .unknown: unknownAnswers.add(1, ordering: .relaxed)
    case .delivered, .gone, .stranger, .rejected, .tooLarge, .attempt, .device, .route: break
    }
    let refusal = Refusal(treatment: treatment, answer: answer)
    if treatment.isOfCredential || response.provesCredential {
      heard(treatment.isOfCredential ? answer.word : nil, by: attempt)
    }
    if let second = second(after: attempt, refusal) {
      self.attempt(second)
    } else {
      attempt.answer(verdict(attempt, refusal))
    }
  }

  /// A push whose token one environment does not recognise goes once to the other environment. A
  /// push for which the other environment refuses our credential goes once to the route's own
  /// environment, where the credential is valid.
  private func second(after attempt: Attempt, _ refusal: Refusal) -> Attempt? {
    guard other != nil, attempt.first == nil else { return nil }
    switch refusal.treatment {
    case .stranger: break
    case .route: guard attempt.isElsewhere else { return nil }
    default: return nil
    }
    var second = attempt
    second.first = refusal
    second.isElsewhere = !attempt.isElsewhere
    second.isRenewed = false
    return second
  }

  private func verdict(_ attempt: Attempt, _ refusal: Refusal) -> Verdict {
    if let first = attempt.first {
      let (home, abroad) = attempt.isElsewhere ? (first, refusal) : (refusal, first)
      if home.treatment == .stranger, abroad.treatment.isOfCredential {
        return APNsVerdicts.unjudged(home.answer, abroad.answer)
      }
    }
    let verdict = APNsVerdicts.verdict(refusal.treatment, refusal.answer)
    return attempt.isElsewhere ? APNsVerdicts.elsewhere(verdict) : verdict
  }

  /// Records what the other environment answered about our credential; `word` is nil if that
  /// environment accepted the credential. A refusal is logged when it begins, not for every push. A
  /// refusal by the route's own environment is not logged here, because the relay reports the
  /// stopped route.
  private func heard(_ word: String?, by attempt: Attempt) {
    guard attempt.isElsewhere, other?.isNew(refusal: word) == true, let word else { return }
    logger.warning(
      "the other environment refuses our credential",
      metadata: ["topic": "\(topic)", "error": "\(word)"])
  }
}

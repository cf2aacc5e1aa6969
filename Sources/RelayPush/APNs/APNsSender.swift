package import Logging
package import NIOCore
package import RelayCore
package import RelayEngine
import Synchronization

/// Apple's push service behind one route: one topic, one environment, one credential.
package final class APNsSender: PushSender {
  private let topic: String
  private let environment: RelayCore.Environment
  private let attemptTimeout: Span
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
  ///   - now: the wall clock, which gives the age of provider tokens.
  package init(
    _ settings: APNsSettings, credential: APNsCredential?, group: any EventLoopGroup,
    logger: Logger, now: @escaping @Sendable () -> Instant
  ) throws(PushProblem) {
    topic = settings.topic
    environment = settings.environment
    attemptTimeout = settings.engine.limits.attemptTimeout
    (self.credential, self.logger, self.now) = (credential, logger, now)
    func engine(_ settings: EngineSettings) throws(PushProblem) -> PushEngine {
      try PushEngine(settings, shape: APNsRequest.shape, group: group, logger: logger)
    }
    self.engine = try engine(settings.engine)
    other = try settings.other.map { (settings) throws(PushProblem) in
      OtherEnvironment(try engine(settings))
    }
  }

  /// Sends to the address's own environment first, if the route can reach that environment.
  package func send(
    _ push: Push, _ handover: Handover, answer: @escaping @Sendable (Verdict) -> Void
  ) {
    let isElsewhere = push.address.environment.map { $0 != environment } ?? false
    attempt(
      Attempt(
        push: push, handover: handover, deadline: .now + attemptTimeout, answer: answer,
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
    let deadline: Uptime
    let answer: @Sendable (Verdict) -> Void
    /// True if the push goes to the other environment, not to the route's own.
    var isElsewhere = false
    /// True if the push is sent for the second time, with a fresh provider token.
    var isRenewed = false
    /// The refusal by the environment tried first; nil for the first attempt.
    var first: ProviderAnswer?
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
    let refusal = ProviderAnswer(apns: response)
    switch refusal.treatment {
    case .renew:
      if !attempt.isRenewed, let bearer, credential?.expired(bearer, at: now()) == .again {
        var renewed = attempt
        renewed.isRenewed = true
        self.attempt(renewed)
        return
      }
    case .reconnect: if let link = response.link { engine.replace(link) }
    case .keep: if let bearer { credential?.tooSoon(bearer, at: now()) }
    case .unknown: unknownAnswers.add(1, ordering: .relaxed)
    default: break
    }
    if refusal.isOfCredential || response.provesCredential {
      heard(refusal.isOfCredential ? refusal.word : nil, by: attempt)
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
  private func second(after attempt: Attempt, _ refusal: ProviderAnswer) -> Attempt? {
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

  private func verdict(_ attempt: Attempt, _ refusal: ProviderAnswer) -> Verdict {
    if let first = attempt.first {
      let (home, abroad) = attempt.isElsewhere ? (first, refusal) : (refusal, first)
      if home.treatment == .stranger, abroad.isOfCredential {
        return APNsVerdicts.unjudged(home, abroad)
      }
    }
    return attempt.isElsewhere ? APNsVerdicts.elsewhere(refusal.verdict) : refusal.verdict
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

import CCurl
import Logging
import NIOCore
package import RelayCore

/// What a provider answered when `zonerelay doctor` tried a credential. No device gets anything by
/// such a try.
package struct ProbeAnswer: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    /// The provider's own word is `reason`; nil if the answer had none.
    case answered(status: Int, reason: String?)
    /// Google gave no access token, so FCM itself was not asked.
    case noToken(String)
    /// There is no answer; the text says why.
    case unanswered(String)
  }

  package var outcome: Outcome
  /// The time of the answer by the provider's clock (the field `Date`); nil if the answer has no
  /// such field.
  package var date: Instant?

  package init(_ outcome: Outcome, date: Instant? = nil) {
    self.outcome = outcome
    self.date = date
  }

  init(_ outcome: RelayPush.Outcome, reason: (Response) -> String?) {
    switch outcome {
    case .failed(let failure): self.init(.unanswered(failure.message))
    case .answered(let response):
      self.init(
        .answered(status: response.status, reason: reason(response)),
        date: response.header(Self.dateField).flatMap(Self.instant))
    }
  }

  /// Runs an engine until `ask` has got its answer.
  static func value<Value: Sendable>(
    running run: @escaping @Sendable () async -> Void,
    _ ask: (@escaping @Sendable (Value) -> Void) -> Void
  ) async -> Value {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await run() }
      let value = await withCheckedContinuation { continuation in
        ask { continuation.resume(returning: $0) }
      }
      group.cancelAll()
      return value
    }
  }

  static let dateField = "date"

  private static func instant(_ field: String) -> Instant? {
    let seconds = zr_curl_date(field)
    return seconds < 0 ? nil : Instant(milliseconds: seconds * 1_000)
  }
}

extension PushEngine {
  /// An engine with one connection. The engine also keeps the field `Date` of an answer.
  convenience init(
    probing settings: EngineSettings, shape: RequestShape, group: any EventLoopGroup,
    logger: Logger
  ) throws(PushProblem) {
    var (settings, shape) = (settings, shape)
    settings.limits.connections = 1
    shape.kept.append(ProbeAnswer.dateField)
    try self.init(settings, shape: shape, group: group, logger: logger)
  }

  /// Runs the engine for one request, and then closes the engine's connections.
  func once(_ request: Request, reason: (Response) -> String?) async -> ProbeAnswer {
    let outcome = await ProbeAnswer.value(running: run) { answer in
      self.send(request, answer: answer)
    }
    return ProbeAnswer(outcome, reason: reason)
  }
}

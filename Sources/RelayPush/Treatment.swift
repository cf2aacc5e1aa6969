import RelayCore

/// What to do about a provider's answer. Each provider's `Verdicts` lists its answers.
package enum Treatment: Hashable, Sendable {
  case delivered
  /// The address is dead, or belongs to another app or project.
  case gone
  /// This environment does not recognise the token: the token is dead, or belongs to the other
  /// environment.
  case stranger
  /// The request is wrong, by our mistake or our configuration. A retry changes nothing, and the
  /// device is not at fault.
  case rejected
  /// The provider says that our payload is too large, even if it is below our limit.
  case tooLarge
  /// This attempt failed.
  case attempt
  /// This attempt failed, and the connection must be replaced.
  case reconnect
  /// The relay tries the push again later; the answer concerns this one device.
  case device
  /// The provider asks us to send more slowly.
  case pace
  /// The provider refused the credential or our right to the topic or project.
  case route
  /// The token that authenticates us is too old or not accepted: send once more with a fresh one.
  case renew
  /// The provider token came too soon after another: use the old one again.
  case keep
  /// The provider's `Verdicts` do not list the answer: the attempt failed, and the answer is
  /// counted.
  case unknown
}

/// A provider's answer, decoded. Each provider's `Verdicts` reads the reason from the body.
struct ProviderAnswer: Sendable {
  var treatment: Treatment
  var status: Int
  /// The provider's own word; nil if the answer had none.
  var reason: String?
  /// The time since which the token is dead.
  var timestamp: Instant?
  var retryAfter: Span?

  /// The provider's reason, or the status if there is none.
  var word: String { reason ?? "status \(status)" }
  /// The most characters of a reason that are kept.
  static let reasonMax = 64

  init(_ response: Response, _ treatment: Treatment, reason: String?) {
    self.treatment = treatment
    status = response.status
    self.reason = reason.map { String($0.prefix(Self.reasonMax)) }
    retryAfter = RetryAfter.span(response.header("retry-after"))
  }

  /// True if the provider refused the credential, so that the answer tells nothing about the
  /// device's token.
  var isOfCredential: Bool {
    treatment == .route || treatment == .renew || treatment == .keep
  }

  /// The wait after an answer that asks for a slower pace and names no time: Google asks for one
  /// minute.
  static let paceDefault = Span.minutes(1)

  /// The verdict when the sender has no further attempt to make.
  var verdict: Verdict {
    let reason = Verdict.Reason(word)
    return switch treatment {
    case .delivered: .delivered
    case .gone, .stranger: .gone(at: timestamp, reason)
    case .rejected: .rejected(reason)
    case .tooLarge: .tooLarge(reason)
    case .attempt, .reconnect, .unknown: .later(after: retryAfter, .attempt, reason)
    case .device: .later(after: retryAfter, .device, reason)
    case .pace: .later(after: retryAfter ?? Self.paceDefault, .pace, reason)
    case .route, .renew, .keep: .later(after: retryAfter, .route, reason)
    }
  }
}

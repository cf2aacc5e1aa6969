import RelayPush

/// What a provider said to a credential of the configuration.
struct CredentialEvidence: Sendable {
  enum Outcome: Sendable {
    case apns(ProbeAnswer)
    case fcm(ProbeAnswer)
    /// The time of a client certificate is over, or has not begun.
    case expired(PushProblem)
    /// The public half of a Web Push key, or why its two halves do not belong together.
    case webPush(Result<String, PushProblem>)
    case skipped(String, remedy: String?)
  }

  /// The route: transport, topic, container and environment.
  var route: String
  var outcome: Outcome
  /// The time of the provider's clock, if the answer had it.
  var time: ServerTime?

  var findings: [Finding] { [verdict] + (time?.findings ?? []) }

  private var verdict: Finding {
    switch outcome {
    case .apns(let answer): apns(answer.outcome)
    case .fcm(let answer): fcm(answer.outcome)
    case .expired(let problem):
      .found(.certificateExpired, route, cause: problem.text, remedy: problem.remedy)
    case .webPush(.success(let publicKey)):
      .passed(
        .credentials, route, "the two halves belong together; apps subscribe with \(publicKey)")
    case .webPush(.failure(let problem)):
      .found(.webPushKeysMismatched, route, cause: problem.text, remedy: problem.remedy)
    case .skipped(let why, let remedy): .skipped(.credentials, route, why, remedy: remedy)
    }
  }

  /// Apple looks at the credential first, at the topic next, and at the device token last.
  private func apns(_ outcome: ProbeAnswer.Outcome) -> Finding {
    switch outcome {
    case .unanswered(let reason), .noToken(let reason):
      return .found(.apnsUnanswered, route, cause: reason)
    case .answered(200, _), .answered(400, "BadDeviceToken"):
      return .passed(.credentials, route, "Apple takes the credential")
    case .answered(let status, let reason):
      let cause = "Apple answered \(status) \(reason ?? "without a reason")"
      return .found(Self.code(status, reason), route, cause: cause)
    }
  }

  private static func code(_ status: Int, _ reason: String?) -> FindingCode {
    switch reason {
    case "InvalidProviderToken", "MissingProviderToken", "UnrelatedKeyIdInToken":
      .apnsTokenRefused
    case "ExpiredProviderToken": .apnsTokenExpired
    case "TooManyProviderTokenUpdates": .apnsTokenUpdates
    case "TopicDisallowed", "DeviceTokenNotForTopic", "BadTopic", "MissingTopic":
      .apnsTopicRefused
    case "BadCertificate", "BadCertificateEnvironment": .apnsCertificateRefused
    case _ where status == 403: .apnsTokenRefused
    default: .apnsUnexpected
    }
  }

  private func fcm(_ outcome: ProbeAnswer.Outcome) -> Finding {
    switch outcome {
    case .noToken(let reason): return .found(.fcmAccountRefused, route, cause: reason)
    case .unanswered(let reason): return .found(.fcmUnanswered, route, cause: reason)
    case .answered(200, _):
      return .passed(.credentials, route, "Google takes the account, and FCM the message")
    case .answered(let status, let reason):
      return .found(
        [401, 403, 404].contains(status) ? .fcmProjectRefused : .fcmUnexpected, route,
        cause: "FCM answered \(status) \(reason ?? "without a reason")")
    }
  }
}

package import Logging
package import NIOCore
package import RelayCore

/// Tries a service account and its right to a project by a message that FCM only validates
/// (`validate_only`) and never delivers.
package enum FCMProbe {
  /// The topic that the message names. No app needs to have subscribed to it.
  private static let topic = "zonerelay-doctor"

  /// - Throws: `PushProblem` if the settings cannot work.
  package static func ask(
    _ settings: FCMSettings, group: any EventLoopGroup, logger: Logger, at now: Instant
  ) async throws -> ProbeAnswer {
    let engine = try PushEngine(
      probing: settings.engine, shape: FCMRequest.shape, group: group, logger: logger)
    let web = WebEngine()
    let credential = FCMCredential(
      settings.account, trustRoots: settings.engine.trustRoots, web: web)
    let token = await ProbeAnswer.value(running: web.run) { answer in
      credential.token(within: settings.engine.limits.attemptTimeout, at: now, answer: answer)
    }
    switch token {
    case .failure(let failure): return ProbeAnswer(.noToken(failure.message))
    case .success(let token):
      let request = FCMRequest.make(
        project: settings.project, token: token.text,
        body: FCMRequest.validation(ofTopic: topic))
      return await engine.once(request) { ProviderAnswer(fcm: $0).reason }
    }
  }
}

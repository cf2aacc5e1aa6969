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
    var own = settings.engine
    own.limits.connections = 1
    let engine = try PushEngine(
      own, shape: FCMRequest.shape.withDate, group: group, logger: logger)
    switch await token(settings, at: now) {
    case .failure(let failure): return ProbeAnswer(.noToken(failure.message))
    case .success(let token):
      let request = FCMRequest.make(
        project: settings.project, token: token.text,
        body: FCMRequest.validation(ofTopic: topic))
      return await engine.once(request) { FCMVerdicts.Answer($0).reason }
    }
  }

  private static func token(
    _ settings: FCMSettings, at now: Instant
  ) async -> Result<FCMCredential.Token, WebFailure> {
    let web = WebEngine()
    let credential = FCMCredential(settings.account, trustRoots: settings.trustRoots, web: web)
    return await withTaskGroup(of: Void.self) { group in
      group.addTask { await web.run() }
      let result = await withCheckedContinuation { continuation in
        credential.token(within: settings.limits.attemptTimeout, at: now) {
          continuation.resume(returning: $0)
        }
      }
      group.cancelAll()
      return result
    }
  }
}

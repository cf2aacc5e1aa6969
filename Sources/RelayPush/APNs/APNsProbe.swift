package import Logging
package import NIOCore
package import RelayCore

/// Tries a route's credential and topic by one push to a device token that no device has.
///
/// `BadDeviceToken` is the good answer: APNs looks at the credential before it looks at the token.
/// The probe opens one connection of its own, sends the push only to the route's own environment,
/// and then closes the connection.
package enum APNsProbe {
  /// No device has this token. The token begins with the hexadecimal digits `dead`, so the stand-in
  /// also answers that it knows no such device.
  static let token: [UInt8] = [222, 173] + Array("zonerelay doctor's device tok.".utf8)

  /// - Parameters:
  ///   - credential: the credential that the route uses; nil exactly if the settings name a
  ///     certificate. Apple counts new provider tokens, so pass a credential that keeps its tokens
  ///     in the directory where the daemon finds them.
  /// - Throws: `PushProblem` if the settings cannot work.
  package static func ask(
    _ settings: APNsSettings, credential: APNsCredential?, group: any EventLoopGroup,
    logger: Logger, at now: Instant
  ) async throws -> ProbeAnswer {
    let engine = try PushEngine(
      probing: settings.engine, shape: APNsRequest.shape, group: group, logger: logger)
    let push = Push(
      id: Identifier(high: UInt64.random(in: 0...(.max)), low: UInt64.random(in: 0...(.max))),
      address: Address(transport: .apns, topic: settings.topic, token: token),
      intent: .background, expires: now + .minutes(1), collapse: nil,
      payload: Array(#"{"aps":{"content-available":1}}"#.utf8))
    let request = APNsRequest.make(
      push, topic: settings.topic, bearer: try credential?.bearer(at: now).text)
    return await engine.once(request) { ProviderAnswer(apns: $0).reason }
  }
}

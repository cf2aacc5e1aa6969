import Hummingbird
import NIOCore
import RelayCore
import RelayEngine

/// Authenticates the user or producer that sent a request. Reports each failure to `Fairness`,
/// which limits how many authentications from one address may fail in a minute.
struct CallerAuthentication: Sendable {
  let fairness: Fairness
  let clock: any ClockReader
  let limits: HTTPLimits

  /// The user on whose behalf a device sends this request.
  func user(
    of request: Request, _ authenticator: ScopeAuthenticator, on channel: any Channel
  ) async throws(WireError) -> UserID {
    do throws(WireError) {
      return try await authenticator.user(of: request, at: clock.wall())
    } catch {
      throw fairness.failed(
        error, from: RemoteAddress(channel.remoteAddress), at: clock.boot())
    }
  }

  /// The producer that sent this request, as far as the header fields identify the producer.
  func claim(
    of request: Request, _ authenticator: ScopeAuthenticator, on channel: any Channel
  ) throws(WireError) -> ProducerClaim {
    do throws(WireError) {
      let claim = try authenticator.producer(of: request, at: clock.wall())
      guard case .signed = claim else { return claim }
      try fairness.mayClaim(from: claim.remote(on: channel), at: clock.boot())
      HTTPConnection.hurryBody(on: channel, within: limits.unverifiedBodySeconds)
      return claim
    } catch {
      throw fairness.failed(
        error, from: RemoteAddress(channel.remoteAddress), at: clock.boot())
    }
  }

  /// The producer that sent this body.
  ///
  /// - Throws: `WireError` if the signature does not match the body.
  func producer(
    _ claim: ProducerClaim, sending body: [UInt8], from remote: RemoteAddress?
  ) throws(WireError) -> String {
    switch claim {
    case .known(let name): return name
    case .signed(let request, let key, let name):
      guard request.isSigned(by: key, body) else {
        let error = WireError(
          .authenticationFailed,
          "X-Apple-CloudKit-Request-SignatureV1 does not verify for this date, body and path")
        throw fairness.failed(error, from: remote, at: clock.boot())
      }
      return name
    }
  }
}

/// What is known of a request's producer before the body is read.
enum ProducerClaim {
  case known(String)
  case signed(SignedRequest, ProducerKey, String)

  /// The sender's address, for the limit of failed authentications; `nil` if the producer is known
  /// already, or calls through a Unix socket. Call this before the body is read, because a closed
  /// channel has no address.
  func remote(on channel: any Channel) -> RemoteAddress? {
    switch self {
    case .known: nil
    case .signed: RemoteAddress(channel.remoteAddress)
    }
  }

  /// The caller against whose share the body counts while it is read.
  func caller(in scope: Scope, from remote: RemoteAddress?) -> CallerID {
    switch self {
    case .known(let name): .producer(scope, name)
    case .signed(let request, _, _): .claimed(scope, request.keyID, remote)
    }
  }
}

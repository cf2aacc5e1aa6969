import Crypto
import Foundation
package import RelayCore
import Synchronization

/// The relay's identity for push services (RFC 8292): a signed token for each origin, renewed after
/// half of its lifetime.
package final class WebPushCredential: Sendable {
  /// How long a token is valid. RFC 8292 allows 24 hours; the margin allows for differing clocks.
  package static let lifetime = Span.hours(12)
  /// Half of `lifetime`.
  private static let renewAfter = Span.hours(6)
  /// How many origins are remembered; when there are more, all are forgotten.
  package static let originsMax = 256

  private let key: P256.Signing.PrivateKey
  private let publicKey: String
  private let subject: String
  private let tokens = Mutex<[String: (text: String, since: Instant)]>([:])

  package init(_ settings: WebPushSettings) {
    key = settings.key
    publicKey = settings.publicKey
    subject = settings.subject
  }

  /// The value of the `Authorization` field for an endpoint of that origin.
  package func authorization(for origin: String, at now: Instant) throws -> String {
    let known = tokens.withLock { $0[origin] }
    if let known, now >= known.since, now - known.since < Self.renewAfter {
      return known.text
    }
    let text = "vapid t=\(try token(for: origin, at: now)),k=\(publicKey)"
    tokens.withLock { tokens in
      if tokens.count >= Self.originsMax { tokens.removeAll() }
      tokens[origin] = (text, now)
    }
    return text
  }

  private func token(for origin: String, at now: Instant) throws -> String {
    try Base64URL.token { header in
      header.member("typ", "JWT")
      header.member("alg", "ES256")
    } claims: { claims in
      claims.member("aud", origin)
      claims.member("exp", (now + Self.lifetime).milliseconds / 1_000)
      claims.member("sub", subject)
    } by: { signed in
      try key.signature(for: signed).rawRepresentation
    }
  }
}

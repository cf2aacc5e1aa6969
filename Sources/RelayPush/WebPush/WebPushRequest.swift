import Crypto
import Foundation
package import RelayCore

/// A push in the form that push services require (RFC 8030).
package enum WebPushRequest {
  /// The longest time for which the relay asks a push service to keep a push. Most push services
  /// shorten a longer time.
  package static let livesMax = Span.days(28)
  private static let topicCharacters = 32

  /// - Throws: `TransportFailure` if the address is not a subscription, or its key is invalid.
  package static func make(
    _ push: Push, credential: WebPushCredential, trustRoots: String?, reach: WebRequest.Reach,
    at now: Instant
  ) throws -> WebRequest {
    guard let subscription = WebSubscription(token: push.address.token),
      let origin = origin(of: subscription.endpoint)
    else { throw TransportFailure(.invalid, "the address is no subscription") }
    let lives = max(.zero, min(push.expires - now, livesMax))
    var headers = [
      "TTL: \(lives.milliseconds / 1_000)",
      "Urgency: \(urgency(push.intent))",
      "Content-Encoding: aes128gcm",
      "Content-Type: application/octet-stream",
      "Authorization: \(try credential.authorization(for: origin, at: now))",
    ]
    if let collapse = push.collapse { headers.append("Topic: \(topic(collapse))") }
    return WebRequest(
      url: subscription.endpoint, headers: headers,
      body: try SealedRecord.seal(push.payload, for: subscription), trustRoots: trustRoots,
      reach: reach)
  }

  /// The urgency of a push (RFC 8030): `normal` reaches a device whose screen is off; `low` would
  /// wait for power or wireless LAN.
  static func urgency(_ intent: Push.Intent) -> String {
    switch intent {
    case .background: "normal"
    case .alert: "high"
    }
  }

  /// The `Topic` field for a collapse id: at most 32 characters of base64url. The field is a hash,
  /// so that it does not reveal the id to the push service.
  static func topic(_ collapse: String) -> String {
    let digest = SHA256.hash(data: Data(collapse.utf8))
    return String(Base64URL.text(Data(digest)).prefix(topicCharacters))
  }

  /// The host of the push service's endpoint, in lower case, without port; empty if there is none.
  /// The function does little, because it runs for every waiting push. `make` finds invalid
  /// endpoints later.
  static func host(of token: [UInt8]) -> String {
    guard let endpoint = WebSubscription(token: token)?.endpoint.utf8 else { return "" }
    let slash = UInt8(ascii: "/")
    let rest = endpoint.drop { $0 != slash }.drop { $0 == slash }
    let authority = rest.prefix { !"/?#".utf8.contains($0) }
    let place = authority.split(separator: UInt8(ascii: "@")).last ?? authority
    let isBracketed = place.first == UInt8(ascii: "[")
    let host = place.prefix { $0 != UInt8(ascii: isBracketed ? "]" : ":") }
    return String(decoding: host, as: UTF8.self).lowercased()
  }

  /// Scheme, host and port; the port is left out if it is the scheme's default (RFC 6454). Returns
  /// nil if the endpoint is no URL with a host.
  static func origin(of endpoint: String) -> String? {
    guard let url = URLComponents(string: endpoint), let scheme = url.scheme?.lowercased(),
      let host = url.host?.lowercased(), !host.isEmpty
    else { return nil }
    guard let port = url.port, port != (scheme == "https" ? 443 : 80) else {
      return "\(scheme)://\(host)"
    }
    return "\(scheme)://\(host):\(port)"
  }
}

/// A browser's push subscription: the URL of its push service, and the keys for encryption (RFC
/// 8030, 8291). It is stored as the token of an address, so that stores need only one form.
package struct WebSubscription: Hashable, Sendable {
  /// An absolute URL. It is a secret like any push token, because any program that has the URL can
  /// send pushes.
  package var endpoint: String
  /// The browser's P-256 key, an uncompressed point of `publicKeyBytes` bytes.
  package var publicKey: [UInt8]
  /// The browser's authentication secret, of `secretBytes` bytes.
  package var secret: [UInt8]

  package static let publicKeyBytes = 65
  package static let secretBytes = 16

  package init(endpoint: String, publicKey: [UInt8], secret: [UInt8]) {
    (self.endpoint, self.publicKey, self.secret) = (endpoint, publicKey, secret)
  }

  /// Reads the bytes that the property `token` makes; `nil` if there are too few bytes.
  package init?(token: [UInt8]) {
    let keys = Self.publicKeyBytes + Self.secretBytes
    guard token.count > keys else { return nil }
    publicKey = Array(token[..<Self.publicKeyBytes])
    secret = Array(token[Self.publicKeyBytes..<keys])
    endpoint = String(decoding: token[keys...], as: UTF8.self)
  }

  /// The public key, the secret and the endpoint, one after the other.
  package var token: [UInt8] { publicKey + secret + Array(endpoint.utf8) }
}

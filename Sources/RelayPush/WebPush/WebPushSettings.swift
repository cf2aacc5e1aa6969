package import Crypto
import Foundation
package import RelayCore

/// Web Push in one environment: our identity for the push services, and the allowed addresses. The
/// initialiser checks all that can be checked without a request.
package struct WebPushSettings: Sendable {
  /// `mailto:` or `https:` address that a push service may contact when something is wrong.
  package let subject: String
  let key: P256.Signing.PrivateKey
  /// True if endpoints may use plain HTTP, and may have loopback and private addresses.
  package let allowPrivateAddresses: Bool
  /// PEM file with the authorities to trust instead of the system's, for a stand-in.
  package let trustRoots: String?
  /// The time from a push to its verdict.
  package let attemptTimeout: Span

  /// - Parameter key: the text of a P-256 private key in PEM.
  package init(
    subject: String, key: String, allowPrivateAddresses: Bool = false, trustRoots: String? = nil,
    attemptTimeout: Span = .seconds(10)
  ) throws(PushProblem) {
    self.subject = try Self.subject(subject)
    self.key = try Self.key(pem: key)
    self.trustRoots = try trustRoots.map(Self.trustRoots)
    self.allowPrivateAddresses = allowPrivateAddresses
    self.attemptTimeout = attemptTimeout
  }

  /// The public key in the form of a browser's `applicationServerKey`: base64url.
  package var publicKey: String { Base64URL.text(key.publicKey.x963Representation) }

  /// Returns the text, if it is a contact for push services.
  package static func subject(_ text: String) throws(PushProblem) -> String {
    if isSubject(text) { return text }
    throw PushProblem(
      .subject, "\"\(text)\" is no contact for push services",
      remedy: "give mailto: and an address, or an https URL")
  }

  /// Returns the path, if the file has readable certificates.
  package static func trustRoots(_ path: String) throws(PushProblem) -> String {
    _ = try TransportSecurity.certificates(path, .trustRoots, what: "trust roots")
    return path
  }

  package static func key(pem: String) throws(PushProblem) -> P256.Signing.PrivateKey {
    do {
      return try P256.Signing.PrivateKey(pemRepresentation: pem)
    } catch {
      throw PushProblem(
        .providerKey, "the Web Push key is no P-256 private key in PEM",
        remedy: "make one with: zonerelay webpush keys")
    }
  }

  private static func isSubject(_ text: String) -> Bool {
    guard text.utf8.count <= 255, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      return false
    }
    if text.hasPrefix("mailto:") {
      let parts = text.dropFirst("mailto:".count).split(
        separator: "@", omittingEmptySubsequences: false)
      return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
    }
    return text.hasPrefix("https://") && URLComponents(string: text)?.host?.isEmpty == false
  }
}

/// A new VAPID key pair (RFC 8292).
package struct WebPushKeys: Sendable {
  /// The private key in PEM, for `webpush.key`. It is a secret.
  package let privateKey: String
  /// The public key in base64url, for the app's `applicationServerKey`.
  package let publicKey: String

  package init() {
    let key = P256.Signing.PrivateKey()
    privateKey = key.pemRepresentation + "\n"
    publicKey = Base64URL.text(key.publicKey.x963Representation)
  }
}

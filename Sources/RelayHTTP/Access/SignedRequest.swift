import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import RelayCore
import RelayWire

/// CloudKit's server-to-server signature of one request: `date:base64(sha256(body)):path`, signed
/// with ECDSA on P-256 over SHA-256.
///
/// The relay accepts a copy of a signed request too, as long as the request's date is within
/// `dateWindow`. The copy does no harm: its events have the same ids and count as duplicates.
struct SignedRequest: Sendable {
  /// The largest accepted difference between the sender's clock and the relay's, in either
  /// direction.
  static let dateWindow = Span.minutes(10)

  let keyID: String
  private let date: String
  private let path: String
  private let signature: P256.Signing.ECDSASignature

  /// - Returns: nil if the request carries none of the three header fields of a signature.
  /// - Throws: `WireError` naming the header that is missing or wrong.
  init?(_ request: Request, at now: Instant) throws(WireError) {
    let names: [HTTPField.Name] = [.requestKeyID, .requestDate, .requestSignature]
    let fields = names.map { request.headers[$0] }
    guard fields.contains(where: { $0 != nil }) else { return nil }
    for (name, field) in zip(names, fields) where field?.isEmpty ?? true {
      throw Self.refusal(name, "is missing; a signed request carries all three headers")
    }
    (keyID, date, path) = (fields[0] ?? "", fields[1] ?? "", request.uri.path)
    guard Timestamp.hasForm(date.utf8, "0000-00-00T00:00:00Z"),
      let instant = Timestamp.instant(date)
    else {
      throw Self.refusal(
        .requestDate, "must be UTC without a fraction, such as 2026-11-21T03:00:00Z")
    }
    guard instant <= now + Self.dateWindow, now <= instant + Self.dateWindow else {
      throw Self.refusal(.requestDate, "is more than 10 minutes off")
    }
    guard let der = Base64.bytes(fields[2] ?? ""),
      // The error is dropped, because the answer names the wrong header and its right form.
      let signature = try? P256.Signing.ECDSASignature(derRepresentation: Data(der))
    else { throw Self.refusal(.requestSignature, "must be base64 of an ECDSA signature in DER") }
    self.signature = signature
  }

  func isSigned(by key: ProducerKey, _ body: [UInt8]) -> Bool {
    let digest = Base64.text(Array(SHA256.hash(data: body)))
    if key.verifies(signature, of: "\(date):\(digest):\(path)") { return true }
    // A client may leave the digest out of the signed text if the request has no body.
    return body.isEmpty && key.verifies(signature, of: "\(date)::\(path)")
  }

  private static func refusal(_ name: HTTPField.Name, _ what: String) -> WireError {
    WireError(.authenticationFailed, "\(name.rawName) \(what)")
  }
}

/// The public key (P-256) that verifies a producer's requests.
package struct ProducerKey: Hashable, Sendable {
  private let key: P256.Signing.PublicKey

  /// - Parameter pem: a public key in PEM, which begins with `-----BEGIN PUBLIC KEY-----`.
  /// - Throws: swift-crypto's error if `pem` is no such key.
  package init(pem: String) throws { key = try P256.Signing.PublicKey(pemRepresentation: pem) }

  package static func == (left: ProducerKey, right: ProducerKey) -> Bool {
    left.key.rawRepresentation == right.key.rawRepresentation
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(key.rawRepresentation) }

  func verifies(_ signature: P256.Signing.ECDSASignature, of text: String) -> Bool {
    key.isValidSignature(signature, for: Data(text.utf8))
  }
}

extension HTTPField.Name {
  static let requestKeyID = Self("X-Apple-CloudKit-Request-KeyID")!
  static let requestDate = Self("X-Apple-CloudKit-Request-ISO8601Date")!
  static let requestSignature = Self("X-Apple-CloudKit-Request-SignatureV1")!
}

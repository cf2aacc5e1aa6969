import Crypto
import Foundation

/// How a sender identifies itself to a push service (RFC 8292).
enum Vapid {
  static let lifeSecondsMax: Int64 = 86_400

  /// The refusal of an `Authorization` header at `now`, in seconds since 1970; nil if the header is
  /// valid.
  static func refusal(_ header: String?, origin: String, at now: Int64) -> FakeAnswer? {
    guard let header, header.lowercased().hasPrefix("vapid ") else {
      return .refused(401, "MissingVapid")
    }
    var fields: [String: String] = [:]
    for field in header.dropFirst("vapid ".count).split(separator: ",") {
      let parts = field.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { return .refused(401, "BadVapid") }
      fields[parts[0].trimmingCharacters(in: .whitespaces)] = String(parts[1])
    }
    guard let text = fields["t"], let token = JSONWebToken(text),
      token.header["alg"] as? String == "ES256",
      let point = fields["k"].flatMap({ JSONWebToken.base64URL($0) }),
      // A key or signature in another form counts as wrong.
      let key = try? P256.Signing.PublicKey(x963Representation: point),
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature),
      key.isValidSignature(signature, for: token.signed)
    else { return .refused(401, "BadVapid") }
    guard token.text("aud") == origin else { return .refused(403, "BadAudience") }
    guard let expires = token.number("exp"), expires > now, expires <= now + lifeSecondsMax else {
      return .refused(403, "BadExpiry")
    }
    let subject = token.text("sub") ?? ""
    guard subject.hasPrefix("mailto:") || subject.hasPrefix("https:") else {
      return .refused(403, "BadSubject")
    }
    return nil
  }
}

enum SealedHeader {
  /// True if the bytes are an `aes128gcm` message (RFC 8188, section 2.1) in RFC 8291's form, no
  /// longer than one record.
  static func isGood(_ body: Data) -> Bool {
    let bytes = [UInt8](body)
    // A message has the header (86 bytes) and at least the delimiter and the tag (17 bytes).
    guard bytes.count >= 86 + 17, bytes[20] == 65 else { return false }
    let size = bytes[16..<20].reduce(0) { $0 << 8 | Int($1) }
    // The sender's public key must be an uncompressed point of P-256 (65 bytes).
    return size >= 18 && bytes.count - 86 <= size
      && (try? P256.KeyAgreement.PublicKey(x963Representation: bytes[21..<86])) != nil
  }
}

import Crypto
import Foundation
import SwiftASN1

/// Checks whether the two halves of a VAPID key belong together.
///
/// The relay derives the public half from the private one. A key file may also name a public half.
/// If that half differs from the derived one and an app uses it as `applicationServerKey`, push
/// services refuse every push to the app's subscriptions.
package enum WebPushKeyPair {
  /// - Parameter pem: the text of `webpush.key`.
  /// - Throws: `PushProblem` if the file's public half is not that of its private half, or if the
  ///   private half signs what the public half does not verify.
  package static func check(pem: String, _ settings: WebPushSettings) throws(PushProblem) {
    let (key, text) = (settings.key, Data("zonerelay doctor".utf8))
    // A key that cannot sign is reported as a wrong pair, so the error itself is ignored.
    guard let signature = try? key.signature(for: text),
      key.publicKey.isValidSignature(signature, for: text)
    else { throw problem("the private half does not sign what the public half verifies") }
    guard let named = publicHalf(in: pem), named != [UInt8](key.publicKey.x963Representation) else {
      return
    }
    throw problem(
      "the file names the public half \(Base64URL.text(named)), and the private half's "
        + "own is \(settings.publicKey)")
  }

  private static func problem(_ what: String) -> PushProblem {
    PushProblem(
      .keyPair, "the halves of the Web Push key do not belong together: \(what)",
      remedy: "name the unchanged file that zonerelay webpush keys made, and let apps subscribe "
        + "with the public key that belongs to it")
  }

  /// The public half that a PEM file names beside the private one; nil if it names none.
  private static func publicHalf(in pem: String) -> [UInt8]? {
    // The settings accepted this text as a private key already. So if the text cannot be read here,
    // it only means that the file does not name a public half.
    guard let document = try? PEMDocument(pemString: pem),
      let root = try? DER.parse(document.derBytes)
    else { return nil }
    return publicHalf(in: root)
  }

  /// The bit string below `[1]` of an ECPrivateKey (RFC 5915). In PKCS #8 the whole ECPrivateKey is
  /// inside an octet string.
  private static func publicHalf(in node: ASN1Node) -> [UInt8]? {
    guard case .constructed(let parts) = node.content else { return nil }
    for part in parts {
      switch part.content {
      case .constructed(let inner) where part.identifier == publicHalfTag:
        // Other content than a bit string is no public key.
        let bits = inner.lazy.compactMap { try? ASN1BitString(derEncoded: $0) }.first
        if let bits { return Array(bits.bytes) }
      case .primitive(let bytes) where part.identifier == .octetString:
        if let half = (try? DER.parse(bytes)).flatMap({ publicHalf(in: $0) }) { return half }
      default: continue
      }
    }
    return nil
  }

  private static let publicHalfTag = ASN1Identifier(
    tagWithNumber: 1, tagClass: .contextSpecific)
}

import Crypto
import CryptoExtras
import Foundation
import RelayWire

/// An account server's key pairs. Tokens are made by hand, so that the daemon's own code does not
/// check itself.
enum AccountKey {
  case es256(P256.Signing.PrivateKey)
  case rs256(_RSA.Signing.PrivateKey)
  case eddsa(Curve25519.Signing.PrivateKey)

  static func rsa() throws -> AccountKey { .rs256(try _RSA.Signing.PrivateKey(keySize: .bits2048)) }
  static var curve: AccountKey { .es256(P256.Signing.PrivateKey()) }
  static var edwards: AccountKey { .eddsa(Curve25519.Signing.PrivateKey()) }

  var algorithm: String {
    switch self {
    case .es256: "ES256"
    case .rs256: "RS256"
    case .eddsa: "EdDSA"
    }
  }

  private func sign(_ text: String) throws -> [UInt8] {
    let data = Data(text.utf8)
    return switch self {
    case .es256(let key): Array(try key.signature(for: data).rawRepresentation)
    case .rs256(let key):
      Array(try key.signature(for: data, padding: .insecurePKCS1v1_5).rawRepresentation)
    case .eddsa(let key): Array(try key.signature(for: data))
    }
  }

  /// The key's JSON, as a key set lists it.
  func shown(id: String?, more: String = "") throws -> String {
    let members: String =
      switch self {
      case .es256(let key):
        #""kty":"EC","crv":"P-256","#
          + #""x":"\#(Self.text(key.publicKey.rawRepresentation.prefix(32)))","#
          + #""y":"\#(Self.text(key.publicKey.rawRepresentation.suffix(32)))""#
      case .rs256(let key):
        #""kty":"RSA","n":"\#(Self.text(try key.publicKey.getKeyPrimitives().modulus))","#
          + #""e":"\#(Self.text(try key.publicKey.getKeyPrimitives().publicExponent))""#
      case .eddsa(let key):
        #""kty":"OKP","crv":"Ed25519","x":"\#(Self.text(key.publicKey.rawRepresentation))""#
      }
    let id = id.map { #","kid":"\#($0)""# } ?? ""
    return "{\(members)\(id)\(more)}"
  }

  private static func text(_ data: some Sequence<UInt8>) -> String { Base64.urlText(Array(data)) }

  static func set(_ keys: [String]) -> [UInt8] {
    Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8)
  }

  /// - Parameter header: further members, such as `,"kid":"a"`.
  func token(
    _ header: String = "", algorithm: String? = nil,
    claims: String = #"{"sub":"_abc","aud":"iCloud.com.example.notes","exp":1795233600}"#
  ) throws -> String {
    let head = #"{"alg":"\#(algorithm ?? self.algorithm)"\#(header)}"#
    let text = "\(Self.text(head.utf8)).\(Self.text(claims.utf8))"
    return "\(text).\(Self.text(try sign(text)))"
  }

  /// A token with an HMAC signature, made with public bytes as the secret.
  static func forged(secret: [UInt8], header: String) -> String {
    let claims = #"{"sub":"_abc","aud":"iCloud.com.example.notes","exp":1795233600}"#
    let text = "\(Self.text(header.utf8)).\(Self.text(claims.utf8))"
    let code = HMAC<SHA256>.authenticationCode(
      for: Data(text.utf8), using: SymmetricKey(data: Data(secret)))
    return "\(text).\(Self.text(code))"
  }
}

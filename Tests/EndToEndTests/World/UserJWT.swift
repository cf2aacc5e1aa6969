import Crypto
import Foundation

/// A user's JWT, HS256, made by hand so that the daemon's own code does not check itself.
enum UserJWT {
  static func make(
    user: String, secret: String, audience: String = Workplace.container,
    expiresIn: TimeInterval = 3_600
  ) -> String {
    let expires = Int(Date().timeIntervalSince1970 + expiresIn)
    let header = base64URL(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8))
    let claims = base64URL(
      Data(#"{"sub":"\#(user)","aud":"\#(audience)","exp":\#(expires)}"#.utf8))
    let signed = "\(header).\(claims)"
    let code = HMAC<SHA256>.authenticationCode(
      for: Data(signed.utf8), using: SymmetricKey(data: Data(secret.utf8)))
    return "\(signed).\(base64URL(Data(code)))"
  }

  private static func base64URL(_ data: Data) -> String {
    data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }
}

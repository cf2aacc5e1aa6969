internal import Foundation

/// A user's token for the relay, and the user whom it names.
public struct UserToken: Hashable, Sendable {
  /// The user's record name, which is the token's `sub`.
  public var user: String
  /// The token itself, as the app's sign-in service has made it.
  public var text: String

  /// Leaves out white space around the token, such as the line feed at the end of a file, because
  /// the header field that carries the token cannot carry such white space.
  public init(user: String, text: String) {
    self.user = user
    self.text = text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Reads the user from a JSON Web Token. The client does not verify the token; the relay does.
  /// The result is nil if the text is no such token or has no `sub`. White space around the token
  /// is left out.
  public init?(jwt text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    let base64 = parts[1].replacingOccurrences(of: "-", with: "+")
      .replacingOccurrences(of: "_", with: "/")
    let padding = String(repeating: "=", count: (4 - base64.count % 4) % 4)
    guard let claims = Data(base64Encoded: base64 + padding),
      // Other bytes than JSON are no token.
      let claim = try? JSONDecoder().decode(Claims.self, from: claims)
    else { return nil }
    self.init(user: claim.sub, text: text)
  }

  private struct Claims: Decodable { var sub: String }
}

/// Why the client asks the app for a user token.
public enum CredentialReason: Hashable, Sendable {
  /// The client has no user token yet.
  case needed
  /// The relay refused the last token, so the app must get a new one. If the relay refuses the new
  /// one too, the client stops and shows ``SyncStatus/signedOut``.
  case refused
}

/// A user's token for the relay, and the user whom it names.
public struct UserToken: Hashable, Sendable {
  /// The user's record name, which is the token's `sub`.
  public var user: String
  /// The token itself, as the app's sign-in service has made it.
  public var text: String

  public init(user: String, text: String) {
    self.user = user
    self.text = text
  }
}

/// Why the client asks the app for a user token.
public enum CredentialReason: Hashable, Sendable {
  /// The client has no token yet.
  case needed
  /// The relay refused the last token. The app should get a new token, and not give the same one.
  case refused
}

/// Who may ask and report in one container and environment. Secrets: never logged.
package struct ScopeAccess: Hashable, Sendable {
  /// Nil: nobody is a user here.
  package var users: Users?
  /// `ckAPIToken` values that may ask at all; empty: not required.
  package var apiTokens: [String]
  package var producers: [Producer]
  /// APNs topics a device may register for; empty: courier only.
  package var topics: [String]

  package init(
    users: Users?, apiTokens: [String] = [], producers: [Producer] = [], topics: [String] = []
  ) {
    self.users = users
    self.apiTokens = apiTokens
    self.producers = producers
    self.topics = topics
  }

  /// A user is a JWT signed with HS256.
  package struct Users: Hashable, Sendable {
    /// At least 32 bytes.
    package var sharedSecret: [UInt8]
    /// If set, `iss` must equal it.
    package var issuer: String?

    package init(sharedSecret: [UInt8], issuer: String? = nil) {
      self.sharedSecret = sharedSecret
      self.issuer = issuer
    }
  }

  package struct Producer: Hashable, Sendable {
    package var name: String
    /// At least 32 characters.
    package var bearer: String

    package init(name: String, bearer: String) {
      self.name = name
      self.bearer = bearer
    }
  }
}

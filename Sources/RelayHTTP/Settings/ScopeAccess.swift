/// Who may ask and report in one container and environment. Secrets: never logged.
package struct ScopeAccess: Hashable, Sendable {
  /// Nil: nobody is a user here.
  package var users: Users?
  /// `ckAPIToken` values that may ask at all; empty: not required.
  package var apiTokens: [String]
  package var producers: [Producer]
  /// APNs topics a device may register for; empty: no APNs.
  package var topics: [String]
  /// The Firebase project that a device may register for; nil: no FCM.
  package var firebaseProject: String?
  /// Nil: no Web Push.
  package var webPush: WebPush?

  package init(
    users: Users?, apiTokens: [String] = [], producers: [Producer] = [], topics: [String] = [],
    firebaseProject: String? = nil, webPush: WebPush? = nil
  ) {
    self.users = users
    self.apiTokens = apiTokens
    self.producers = producers
    self.topics = topics
    self.firebaseProject = firebaseProject
    self.webPush = webPush
  }

  /// What a browser may register here.
  package struct WebPush: Hashable, Sendable {
    /// Endpoints at loopback and private addresses, and without TLS, are taken.
    package var allowsPrivateAddresses: Bool

    package init(allowsPrivateAddresses: Bool) {
      self.allowsPrivateAddresses = allowsPrivateAddresses
    }
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

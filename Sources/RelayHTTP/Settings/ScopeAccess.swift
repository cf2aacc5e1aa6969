/// Which users and producers may use one container and environment. Contains secrets: never log it.
package struct ScopeAccess: Hashable, Sendable {
  /// Nil: this scope has no users.
  package var users: Users?
  /// The accepted `ckAPIToken` values; empty: none is required.
  package var apiTokens: [String]
  /// Web origins whose pages may use the endpoints of devices and of the courier; empty: none.
  package var origins: Set<String>
  package var producers: [Producer]
  /// APNs topics a device may register for; empty: no APNs.
  package var topics: [String]
  /// The Firebase project that a device may register for; nil: no FCM.
  package var firebaseProject: String?
  /// Nil: no Web Push.
  package var webPush: WebPush?

  package init(
    users: Users?, apiTokens: [String] = [], origins: Set<String> = [],
    producers: [Producer] = [], topics: [String] = [], firebaseProject: String? = nil,
    webPush: WebPush? = nil
  ) {
    self.users = users
    self.apiTokens = apiTokens
    self.origins = origins
    self.producers = producers
    self.topics = topics
    self.firebaseProject = firebaseProject
    self.webPush = webPush
  }

  /// What a browser may register here.
  package struct WebPush: Hashable, Sendable {
    /// True if endpoints at loopback and private addresses, and without TLS, are accepted.
    package var allowsPrivateAddresses: Bool

    package init(allowsPrivateAddresses: Bool) {
      self.allowsPrivateAddresses = allowsPrivateAddresses
    }
  }

  /// A user is identified by a signed JWT.
  package struct Users: Hashable, Sendable {
    package enum Proof: Hashable, Sendable {
      /// HS256, at least 32 bytes.
      case sharedSecret([UInt8])
      /// ES256, RS256 or EdDSA.
      case keySet(KeySet)
      /// The same, fetched by a `JWKSCache`.
      case remote(RemoteKeys)
    }

    package var proof: Proof
    /// If set, `iss` must equal it.
    package var issuer: String?

    package init(_ proof: Proof, issuer: String? = nil) {
      self.proof = proof
      self.issuer = issuer
    }

    package init(sharedSecret: [UInt8], issuer: String? = nil) {
      self.init(.sharedSecret(sharedSecret), issuer: issuer)
    }
  }

  package struct Producer: Hashable, Sendable {
    package enum Proof: Hashable, Sendable {
      /// At least 32 characters.
      case bearer(String)
      /// CloudKit's server-to-server signature; no two producers share a key id.
      case signature(keyID: String, ProducerKey)
    }

    package var name: String
    package var proof: Proof
    /// How many fetches a second the producer can serve; 0: it does not say.
    package var fetchCapacity: Int

    package init(name: String, proof: Proof, fetchCapacity: Int = 0) {
      self.name = name
      self.proof = proof
      self.fetchCapacity = fetchCapacity
    }

    package init(name: String, bearer: String) {
      self.init(name: name, proof: .bearer(bearer))
    }
  }
}

/// Which users and producers may use one container and environment. The value contains secrets, so
/// never log it.
package struct ScopeAccess: Hashable, Sendable {
  /// How users of this scope prove who they are; `nil` means that the scope has no users.
  package var users: Users?
  /// The accepted `ckAPIToken` values; an empty list means that no value is required.
  package var apiTokens: [String]
  /// The web origins whose pages may use the endpoints of devices and of the courier.
  package var origins: Set<String>
  package var producers: [Producer]
  /// The APNs topics that a device may register for; an empty list means that APNs is not used.
  package var topics: [String]
  /// The Firebase project that a device may register for; `nil` means that FCM is not used.
  package var firebaseProject: String?
  /// The rules for Web Push registrations; `nil` means that Web Push is not used.
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

  /// The push endpoints that a browser may register in this scope.
  package struct WebPush: Hashable, Sendable {
    /// True if endpoints at loopback and private addresses, and without TLS, are accepted.
    package var allowsPrivateAddresses: Bool

    package init(allowsPrivateAddresses: Bool) {
      self.allowsPrivateAddresses = allowsPrivateAddresses
    }
  }

  /// How a user's signed JWT is verified.
  package struct Users: Hashable, Sendable {
    package enum Proof: Hashable, Sendable {
      /// A secret for HS256, of at least 32 bytes.
      case sharedSecret([UInt8])
      /// A fixed set of public keys for ES256, RS256 or EdDSA.
      case keySet(KeySet)
      /// A set of public keys that a `JWKSCache` fetches from a URL, for ES256, RS256 or EdDSA.
      case remote(RemoteKeys)
    }

    package var proof: Proof
    /// The value that the token's `iss` must equal; `nil` means that any `iss` is accepted.
    package var issuer: String?

    package init(_ proof: Proof, issuer: String? = nil) {
      self.proof = proof
      self.issuer = issuer
    }
  }

  package struct Producer: Hashable, Sendable {
    package enum Proof: Hashable, Sendable {
      /// A secret key, of at least 32 characters, that the producer sends with each request.
      case bearer(String)
      /// The key id and public key of CloudKit's server-to-server signature; no two producers share
      /// a key id.
      case signature(keyID: String, ProducerKey)
    }

    package var name: String
    package var proof: Proof
    /// How many fetches a second the producer can serve; 0 means that the producer declares no
    /// number.
    package var fetchCapacity: Int

    package init(name: String, proof: Proof, fetchCapacity: Int = 0) {
      (self.name, self.proof, self.fetchCapacity) = (name, proof, fetchCapacity)
    }
  }
}

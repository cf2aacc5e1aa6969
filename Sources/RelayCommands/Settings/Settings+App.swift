package import RelayCore
package import RelayFeedback
package import RelayHTTP
package import RelayPush

extension Settings {
  /// A container in one of its environments, with its own users, producers and routes.
  package struct App: Sendable {
    package var scope: Scope
    package var users: Users
    /// A request must give one of these values as `ckAPIToken`. Empty means that no value is
    /// required.
    package var apiTokens: [Secret] = []
    package var producers: [Producer] = []
    /// Web origins whose pages may use the endpoints of devices and of the courier. Empty means
    /// that no web page may use these endpoints.
    package var origins: [String] = []
    /// One route for each topic. Empty means that Apple's devices get no push.
    package var apns: [APNs] = []
    /// The route to FCM. `nil` means that Android devices get no push.
    package var fcm: FCM?
    /// The route to browsers. `nil` means that browsers get no push.
    package var webPush: WebPush?
    /// The webhook for feedback. `nil` means that feedback is available in the feed only.
    package var feedback: WebhookSettings?
  }

  /// How users authenticate: a JWT whose `sub` is the user and `aud` the container.
  package struct Users: Sendable {
    package enum Proof: Sendable {
      /// HS256, with a secret of at least 32 bytes.
      case sharedSecret(Secret)
      /// ES256, RS256 or EdDSA, with the keys in a file.
      case keySet(KeySet)
      /// ES256, RS256 or EdDSA, with the keys that an account server publishes.
      case keySetURL(KeySetAddress)
    }

    package var proof: Proof
    /// The required value of `iss`, if set.
    package var issuer: String?
  }

  /// A record server that may report changes.
  package struct Producer: Sendable {
    package enum Proof: Sendable {
      /// A key of at least 32 characters. No two producers of an environment share a key.
      case bearer(Secret)
      /// CloudKit's server-to-server signature. No two producers of an environment share a key id.
      case signature(keyID: String, ProducerKey)
    }

    package var name: String
    package var proof: Proof
    /// How many fetches a second the producer can serve; 0 if the operator gave no number.
    package var fetchCapacity = 0
  }

  /// A route to Apple's push service for one topic.
  package struct APNs: Sendable {
    package var topic: String
    package var credential: Credential
    package var endpoint: APNsSettings.Endpoint
    /// The environment that the endpoint stands for, if the endpoint is not Apple's own.
    package var environment: Environment
    /// The endpoint for pushes whose token `endpoint` does not recognise.
    package var otherEndpoint: APNsSettings.Endpoint?
    /// PEM file with the authorities to trust instead of the system's.
    package var trustRoots: String?

    package enum Credential: Sendable {
      /// A provider key: P-256 in PEM, as in the `.p8` file that Apple provides.
      case key(Secret, keyID: String, teamID: String)
      case certificate(EngineSettings.ClientCertificate)
    }
  }
}

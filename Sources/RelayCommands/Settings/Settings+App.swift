package import RelayCore
package import RelayFeedback
package import RelayHTTP
package import RelayPush

extension Settings {
  /// A container in one of its environments, with users, producers and routes of its own.
  package struct App: Sendable {
    package var scope: Scope
    package var users: Users
    /// Values of `ckAPIToken` that may ask at all; empty = not required.
    package var apiTokens: [Secret] = []
    package var producers: [Producer] = []
    /// Web origins whose pages may use the endpoints of devices and of the courier; empty = none.
    package var origins: [String] = []
    /// One a topic. None: the environment is known, and no push leaves.
    package var apns: [APNs] = []
    /// Nil: no Android device can be pushed to.
    package var fcm: FCM?
    /// Nil: no browser can be pushed to.
    package var webPush: WebPush?
    /// Nil: feedback is only in the feed.
    package var feedback: WebhookSettings?
  }

  /// How users prove who they are: a JWT whose `sub` is the user and `aud` the container.
  package struct Users: Sendable {
    package enum Proof: Sendable {
      /// HS256, at least 32 bytes.
      case sharedSecret(Secret)
      /// ES256, RS256 or EdDSA, by the keys of a file.
      case keySet(KeySet)
      /// The same, by the keys that an account server publishes.
      case keySetURL(KeySetAddress)
    }

    package var proof: Proof
    /// What `iss` must equal, if set.
    package var issuer: String?
  }

  /// A record server that may report changes.
  package struct Producer: Sendable {
    package enum Proof: Sendable {
      /// At least 32 characters; no two producers of an environment share one.
      case bearer(Secret)
      /// CloudKit's server-to-server signature; no two share a key id.
      case signature(keyID: String, ProducerKey)
    }

    package var name: String
    package var proof: Proof
    /// Fetches a second that it can serve; nil: it does not say.
    package var fetchCapacity: Int?
  }

  /// A route to Apple's push service for one topic.
  package struct APNs: Sendable {
    package var topic: String
    package var credential: Credential
    package var endpoint: APNsSettings.Endpoint
    /// Which of Apple's environments the endpoint plays, if it is not Apple's own.
    package var environment: Environment
    /// Where tokens are tried that the endpoint does not know.
    package var otherEndpoint: APNsSettings.Endpoint?
    /// PEM file with the authorities to trust instead of the system's.
    package var trustRoots: String?

    package enum Credential: Sendable {
      /// A provider key: P-256 in PEM, as Apple hands it out in a `.p8` file.
      case key(Secret, keyID: String, teamID: String)
      case certificate(CertificateFiles)
    }
  }
}

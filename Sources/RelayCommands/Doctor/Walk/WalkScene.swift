import Crypto
import RelayCore
import RelayHTTP

/// The environment in which the doctor lets a change travel, and the keys for it.
struct WalkScene: Sendable {
  enum UserProof: Sendable {
    /// The doctor signs a token itself, as the app's server would.
    case secret(Secret, issuer: String?)
    case token(String)
  }

  enum ProducerProof: Sendable {
    case bearer(Secret)
    case signature(keyID: String, P256.Signing.PrivateKey)
  }

  var scope: Scope
  var user: UserProof
  var producer: ProducerProof
  /// A value of `ckAPIToken`, where the environment asks for one.
  var apiToken: String?
  /// The name of the producer whose key the doctor uses.
  var producerName: String

  enum Choice: Sendable {
    case scene(WalkScene)
    /// No environment can be walked through; the finding says what would let the doctor do it.
    case none(Finding)
  }

  /// The first environment of the configuration for which there is a key of a user and one of a
  /// producer.
  static func choose(_ apps: [Settings.App], _ given: GivenKeys) -> Choice {
    var missing: [Finding] = []
    for app in apps {
      switch (userProof(app, given), producerProof(app, given)) {
      case (let user?, (let producer, let name)?):
        return .scene(
          WalkScene(
            scope: app.scope, user: user, producer: producer, apiToken: app.apiTokens.first?.text,
            producerName: name))
      case (nil, _): missing.append(noUser(app))
      case (_, nil): missing.append(noProducer(app, given))
      }
    }
    return .none(missing.first ?? .skipped(.change, "a change", "no environment is configured"))
  }

  private static func userProof(_ app: Settings.App, _ given: GivenKeys) -> UserProof? {
    if case .sharedSecret(let secret) = app.users.proof {
      return .secret(secret, issuer: app.users.issuer)
    }
    guard let token = given.userToken, token.containers.contains(app.scope.container) else {
      return nil
    }
    return .token(token.text)
  }

  private static func producerProof(
    _ app: Settings.App, _ given: GivenKeys
  ) -> (ProducerProof, name: String)? {
    var bearer: (ProducerProof, name: String)?
    for producer in app.producers {
      switch producer.proof {
      case .bearer(let key): bearer = bearer ?? (.bearer(key), producer.name)
      case .signature(let keyID, let known):
        guard let key = given.producerKey, known.belongs(to: key) else { continue }
        // The operator asks to try this key.
        return (.signature(keyID: keyID, key), producer.name)
      }
    }
    return bearer
  }

  private static func noUser(_ app: Settings.App) -> Finding {
    .skipped(
      .change, "a change in \(app.scope.text)",
      "its users' tokens are signed by an account server, so the doctor cannot sign one",
      remedy: "give one with --user-token FILE: a token for the user \(UserID.doctor.name) and the "
        + "container \(app.scope.container)")
  }

  private static func noProducer(_ app: Settings.App, _ given: GivenKeys) -> Finding {
    let (why, remedy) =
      if app.producers.isEmpty {
        ("no producer may report changes there", "list a producer in the configuration")
      } else if given.producerKey != nil {
        (
          "its producers sign their requests, and none has the key of --producer-key",
          "name with --producer-key FILE the private key of a publicKey in its producers"
        )
      } else {
        (
          "its producers sign their requests",
          "give the private key of one with --producer-key FILE"
        )
      }
    return .skipped(.change, "a change in \(app.scope.text)", why, remedy: remedy)
  }
}

extension ProducerKey {
  /// True if this is the public half of the key.
  fileprivate func belongs(to key: P256.Signing.PrivateKey) -> Bool {
    // Cannot fail: the PEM text was just made from a valid key.
    (try? ProducerKey(pem: key.publicKey.pemRepresentation)) == self
  }
}

extension Scope {
  /// Container and environment as people read them.
  var text: String { "\(container) \(environment.name)" }
}

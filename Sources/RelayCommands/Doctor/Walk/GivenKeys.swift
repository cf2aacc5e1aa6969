import Crypto
import Foundation
import RelayCore
import RelayWire

/// What the operator gives the doctor beside the configuration.
struct GivenKeys: Sendable {
  /// A token that the account server has signed for the doctor's user.
  var userToken: GivenToken?
  /// The private key of a producer that signs its requests.
  var producerKey: P256.Signing.PrivateKey?

  static let none = GivenKeys()

  /// A token with the containers that it is for.
  typealias GivenToken = (text: String, containers: [String])
}

extension GivenKeys {
  /// Reads the files of the flags.
  ///
  /// - Throws: `Failure` for a file without a usable token or key, and for a token of another user:
  ///   with such a token the doctor would change a person's feed.
  init(userToken: String?, producerKey: String?) throws {
    self.userToken = try userToken.map { try Self.token(in: $0) }
    self.producerKey = try producerKey.map { try Self.key(in: $0) }
  }

  private static func token(in path: String) throws -> GivenToken {
    let text = try read(path, "--user-token").text
    let claims: Claims
    do {
      let parts = text.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count == 3, let bytes = Base64.bytes(parts[1]) else {
        throw CocoaError(.coderInvalidValue)
      }
      claims = try JSONDecoder().decode(Claims.self, from: Data(bytes))
    } catch {
      throw Failure(
        .usage, "--user-token: \(path) holds no JWT",
        hint: "put one into it that the account server has signed for \(UserID.doctor.name)")
    }
    guard claims.sub == UserID.doctor.name else {
      throw Failure(
        .usage, "--user-token: the token in \(path) is for the user \(claims.sub)",
        hint: "let the account server sign one for \(UserID.doctor.name): the doctor touches no "
          + "person's feed")
    }
    return (text, claims.aud.containers)
  }

  private static func key(in path: String) throws -> P256.Signing.PrivateKey {
    let text = try read(path, "--producer-key").text
    do {
      return try P256.Signing.PrivateKey(pemRepresentation: text)
    } catch {
      throw Failure(
        .usage, "--producer-key: \(path) holds no P-256 private key in PEM",
        hint: "name the private key whose public half the configuration has as "
          + "producers[].publicKey")
    }
  }

  private static func read(_ path: String, _ flag: String) throws -> Secret {
    do throws(ValueError) {
      return try FileBytes.secret(path)
    } catch {
      throw Failure(.usage, "\(flag): \(error.cause)", hint: error.remedy)
    }
  }

  private struct Claims: Decodable {
    var sub: String
    var aud: Audience
  }

  /// The claim `aud`: a string or a list of strings. The list may be empty, and JWTKit's own type
  /// would then end the process.
  private struct Audience: Decodable {
    var containers: [String]

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      // If the value is neither a string nor a list of strings, the second `decode` throws an error
      // that says what is wrong.
      if let name = try? value.decode(String.self) {
        containers = [name]
      } else {
        containers = try value.decode([String].self)
      }
    }
  }
}

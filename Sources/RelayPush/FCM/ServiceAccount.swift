import CryptoExtras
import Foundation
import RelayCore

/// A Google service account, as read from its key file. The relay uses it to authenticate to FCM.
package struct ServiceAccount: Sendable {
  package var project: String { file.projectId }
  package var tokenURL: String { file.tokenUri }
  /// The key file without its private key, which `key` holds.
  private let file: File
  private let key: _RSA.Signing.PrivateKey

  /// The scope that we request for the access token.
  package static let scope = "https://www.googleapis.com/auth/firebase.messaging"
  /// The seconds for which an assertion is valid: Google's limit.
  private static let assertionSeconds: Int64 = 3_600

  /// - Parameter json: the unchanged contents of the key file.
  package init(json: [UInt8]) throws(PushProblem) {
    var file: File
    do {
      let decoder = JSONDecoder()
      decoder.keyDecodingStrategy = .convertFromSnakeCase
      file = try decoder.decode(File.self, from: Data(json))
    } catch {
      throw Self.problem("it is no key file of a service account")
    }
    guard file.type == "service_account" else {
      throw Self.problem("its type is \"\(file.type)\", not service_account")
    }
    let isSecure = file.tokenUri.hasPrefix("https://")
    guard isSecure, URLComponents(string: file.tokenUri)?.host?.isEmpty == false else {
      throw Self.problem("its token_uri is no https URL")
    }
    let texts = [file.clientEmail, file.privateKeyId, file.tokenUri]
    guard texts.allSatisfy({ $0.utf8.allSatisfy { (0x21...0x7e).contains($0) } }) else {
      throw Self.problem("client_email, private_key_id or token_uri holds a blank")
    }
    do {
      key = try _RSA.Signing.PrivateKey(pemRepresentation: file.privateKey)
    } catch {
      throw Self.problem("its private_key is no RSA key of 2048 bits or more in PEM")
    }
    file.privateKey = ""
    self.file = file
  }

  private static func problem(_ what: String) -> PushProblem {
    PushProblem(
      .serviceAccount, "the service account cannot be used: \(what)",
      remedy: "name the JSON file that the Firebase console made, unchanged")
  }

  /// The signed assertion that requests an access token (RFC 7523); valid for an hour.
  func assertion(at now: Instant) throws -> String {
    let issued = now.milliseconds / 1_000
    return try Base64URL.token { header in
      header.member("alg", "RS256")
      header.member("typ", "JWT")
      header.member("kid", file.privateKeyId)
    } claims: { claims in
      claims.member("iss", file.clientEmail)
      claims.member("scope", Self.scope)
      claims.member("aud", tokenURL)
      claims.member("iat", issued)
      claims.member("exp", issued + Self.assertionSeconds)
    } by: { signed in
      try key.signature(for: signed, padding: .insecurePKCS1v1_5).rawRepresentation
    }
  }

  /// The key file. The members have Google's names without the underscores.
  private struct File: Decodable {
    var type: String
    var projectId: String
    var privateKeyId: String
    var privateKey: String
    var clientEmail: String
    var tokenUri: String
  }
}

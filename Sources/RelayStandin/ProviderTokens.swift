import Crypto
import Foundation

/// The rules for provider tokens (JWT, ES256), with the state that they need.
///
/// A token is valid for an hour from its `iat`. A team whose new token has an `iat` less than 20
/// minutes after the `iat` of its last token gets TooManyProviderTokenUpdates, and may continue
/// with the last token. A token with the last token's `iat` and another text is no update: every
/// ES256 signature of the same claims differs, and several connections may sign their own token.
struct ProviderTokens: Sendable {
  private let key: P256.Signing.PublicKey
  /// The ids that belong to the key; nil means any.
  private let ids: (key: String?, team: String?)
  private var verified: [String: Claims] = [:]
  private var newest: [String: Int64] = [:]

  static let lifeSeconds: Int64 = 3_600
  static let updateSeconds: Int64 = 1_200
  /// By how many seconds the clocks of client and server may differ.
  static let skewSeconds: Int64 = 60
  /// How many verified token texts are kept; above this number, all of them are dropped.
  static let verifiedMax = 256

  /// - Parameters:
  ///   - keyID: the only key id that a token may name; nil means any.
  ///   - teamID: the only team that a token may name; nil means any.
  init(key: P256.Signing.PublicKey, keyID: String? = nil, teamID: String? = nil) {
    self.key = key
    ids = (keyID, teamID)
  }

  /// Checks an `authorization` header at `now`, in seconds since 1970.
  mutating func check(_ header: String?, at now: Int64) -> APNsReason? {
    guard let header, !header.isEmpty else { return .missingProviderToken }
    let words = header.split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0].lowercased() == "bearer" else { return .missingProviderToken }
    guard let claims = claims(of: String(words[1])) else { return .invalidProviderToken }
    guard claims.issuedAt <= now + Self.skewSeconds else { return .invalidProviderToken }
    guard now - claims.issuedAt <= Self.lifeSeconds else { return .expiredProviderToken }
    let last = newest[claims.team] ?? claims.issuedAt
    if claims.issuedAt > last, claims.issuedAt - last < Self.updateSeconds {
      return .tooManyProviderTokenUpdates
    }
    newest[claims.team] = max(last, claims.issuedAt)
    return nil
  }

  /// The claims of a well-formed token with a valid signature; nil for any other token.
  private mutating func claims(of token: String) -> Claims? {
    if let known = verified[token] { return known }
    guard let jwt = JSONWebToken(token), jwt.header["alg"] as? String == "ES256",
      let keyID = jwt.header["kid"] as? String, Self.isTenCharacters(keyID),
      keyID == ids.key ?? keyID,
      let team = jwt.text("iss"), Self.isTenCharacters(team), team == ids.team ?? team,
      let issuedAt = jwt.number("iat"),
      // The initialiser throws an error only if the signature is not 64 bytes long. Such a
      // signature counts as wrong.
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: jwt.signature),
      key.isValidSignature(signature, for: jwt.signed)
    else { return nil }
    if verified.count >= Self.verifiedMax { verified.removeAll() }
    let claims = Claims(team: team, issuedAt: issuedAt)
    verified[token] = claims
    return claims
  }

  /// Apple's key and team identifiers have ten letters and digits.
  static func isTenCharacters(_ text: String) -> Bool {
    text.utf8.count == 10 && text.isPlain()
  }

  /// How many verified token texts are kept now.
  var verifiedCount: Int { verified.count }

  private struct Claims: Sendable {
    var team: String
    var issuedAt: Int64
  }
}

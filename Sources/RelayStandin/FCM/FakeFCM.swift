import CryptoExtras
import Foundation
import Synchronization

/// The rules of FCM's HTTP v1 API. A device token that begins with one of the words of
/// ``DeviceBehavior`` is treated accordingly.
final class FakeFCM: FakeHTTPProvider {
  private static let tokenSeconds: Int64 = 3_599
  private static let tokenPath = "/token"
  private static let sendPath = "/v1/projects/\(FCMStandin.project)/messages:send"
  private let key: _RSA.Signing.PublicKey
  /// The access tokens, each with the second since 1970 at which it expires.
  private let tokens = Mutex<[String: Int64]>([:])

  init(_ account: StandinAccount) { key = account.key.publicKey }

  func forgetTokens() { tokens.withLock { $0.removeAll() } }

  func record(of request: PushRequest) -> [String: Any] {
    request.payload.map { ["payload": $0] } ?? [:]
  }

  func token(of request: PushRequest) -> String? {
    guard request.path == Self.sendPath else { return nil }
    let message = request.payload?["message"] as? [String: Any]
    return message?["token"] as? String ?? ""
  }

  func answer(to fault: AnswerFault) -> FakeAnswer {
    let (word, code) = FCMRules.words[fault.status] ?? ("UNKNOWN", nil)
    // Google does not answer 410: for a dead token it answers 404.
    let status = fault.status == 410 ? 404 : fault.status
    return .failure(status, word, code: code)
  }

  func answer(_ request: PushRequest, at milliseconds: Int64) -> FakeAnswer {
    let now = milliseconds / 1_000
    guard request.method == "POST" else { return .failure(404, "NOT_FOUND") }
    if request.path == Self.tokenPath { return grant(request, at: now) }
    guard request.path.hasPrefix("/v1/projects/"), request.path.hasSuffix("/messages:send") else {
      return .failure(404, "NOT_FOUND")
    }
    guard isKnown(request.header("authorization"), at: now) else {
      return .failure(401, "UNAUTHENTICATED")
    }
    guard request.path == Self.sendPath else { return .failure(403, "PERMISSION_DENIED") }
    guard let message = request.payload?["message"] as? [String: Any],
      let token = (message["token"] ?? message["topic"]) as? String, !token.isEmpty,
      FCMRules.isGood(message)
    else { return .failure(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT") }
    let behavior = DeviceBehavior(token: token)
    switch behavior {
    case .dead: return .failure(403, "PERMISSION_DENIED", code: "SENDER_ID_MISMATCH")
    case .gone: return .failure(404, "NOT_FOUND", code: "UNREGISTERED")
    case .busy:
      return .failure(429, "RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED").retry(after: 7)
    case .fail: return .failure(500, "INTERNAL", code: "INTERNAL")
    case .mute: return .silence
    case .slow, .ordinary, .development, .production:
      let name = "projects/\(FCMStandin.project)/messages/\(milliseconds)"
      var answer = FakeAnswer.json(200, "{\"name\":\"\(name)\"}")
      answer.delay = behavior.delay
      return answer
    }
  }

  private func isKnown(_ header: String?, at now: Int64) -> Bool {
    guard let header, header.hasPrefix("Bearer ") else { return false }
    let token = String(header.dropFirst("Bearer ".count))
    return tokens.withLock { $0[token].map { now < $0 } ?? false }
  }

  /// Answers a token request of RFC 7523 by Google's rules.
  private func grant(_ request: PushRequest, at now: Int64) -> FakeAnswer {
    let form = Self.form(request.body)
    guard form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer" else {
      return .denied("unsupported_grant_type")
    }
    guard let token = form["assertion"].flatMap({ JSONWebToken($0) }),
      token.header["alg"] as? String == "RS256",
      key.isValidSignature(
        _RSA.Signing.RSASignature(rawRepresentation: token.signature), for: token.signed,
        padding: .insecurePKCS1v1_5),
      token.text("iss") == StandinAccount.email,
      token.text("aud") == "https://\(request.header("host") ?? "")\(Self.tokenPath)",
      let issued = token.number("iat"), let expires = token.number("exp"),
      issued <= now + 60, expires > now, expires - issued <= 3_600
    else { return .denied("invalid_grant") }
    guard token.text("scope") == "https://www.googleapis.com/auth/firebase.messaging" else {
      return .denied("invalid_scope")
    }
    let access = "ya29." + UUID().uuidString.lowercased()
    tokens.withLock { $0[access] = now + Self.tokenSeconds }
    return .json(
      200,
      "{\"access_token\":\"\(access)\",\"expires_in\":\(Self.tokenSeconds),"
        + "\"token_type\":\"Bearer\"}")
  }

  private static func form(_ body: Data) -> [String: String] {
    var form: [String: String] = [:]
    for pair in String(decoding: body, as: UTF8.self).split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1).map { String($0) }
      if parts.count == 2 { form[parts[0]] = parts[1].removingPercentEncoding }
    }
    return form
  }
}

/// FCM's documented rules for a message.
enum FCMRules {
  static let dataBytesMax = 4_096
  static let secondsMax = 2_419_200.0
  private static let reserved = ["google", "gcm"]

  /// Google's status word and error code for each HTTP status.
  static let words: [Int: (String, String?)] = [
    400: ("INVALID_ARGUMENT", "INVALID_ARGUMENT"), 403: ("PERMISSION_DENIED", nil),
    410: ("NOT_FOUND", "UNREGISTERED"), 413: ("INVALID_ARGUMENT", "INVALID_ARGUMENT"),
    429: ("RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"), 500: ("INTERNAL", "INTERNAL"),
    503: ("UNAVAILABLE", "UNAVAILABLE"),
  ]

  static func isGood(_ message: [String: Any]) -> Bool {
    guard let data = message["data"] as? [String: String], !data.isEmpty,
      data.allSatisfy({ name, _ in
        name != "from" && name != "message_type" && !reserved.contains(where: name.hasPrefix)
      }),
      data.reduce(0, { $0 + $1.key.utf8.count + $1.value.utf8.count }) <= dataBytesMax
    else { return false }
    guard let android = message["android"] as? [String: Any] else { return true }
    if let priority = android["priority"] as? String, !["NORMAL", "HIGH"].contains(priority) {
      return false
    }
    if let ttl = android["ttl"] {
      guard let text = ttl as? String, text.hasSuffix("s"), let seconds = Double(text.dropLast()),
        (0...secondsMax).contains(seconds)
      else { return false }
    }
    return android["collapse_key"].map { $0 is String } ?? true
  }
}

extension FakeAnswer {
  /// An error in Google's form.
  static func failure(_ status: Int, _ word: String, code: String? = nil) -> FakeAnswer {
    let type = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
    let details = code.map { ",\"details\":[{\"@type\":\"\(type)\",\"errorCode\":\"\($0)\"}]" }
    return .json(
      status,
      "{\"error\":{\"code\":\(status),\"message\":\"\(word)\",\"status\":\"\(word)\""
        + "\(details ?? "")}}", reason: code ?? word)
  }

  /// An error in OAuth's form.
  static func denied(_ word: String) -> FakeAnswer {
    .json(400, "{\"error\":\"\(word)\"}", reason: word)
  }
}

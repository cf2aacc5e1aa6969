@testable import RelayCommands
@testable import RelayCore
@testable import RelayHTTP
@testable import RelayPush

/// Parsers of the answers of push providers and of account servers.
extension FuzzedParser {
  static let fromProviders: [FuzzedParser] = [
    FuzzedParser(
      "apns-answer",
      texts: [#"{"reason":"Unregistered","timestamp":1795230000000}"#, #"{"reason":"BadTopic"}"#],
      words: jsonWords + ["-9223372036854775808", "9223372036854775807"]
    ) { bytes in
      for status in [200, 400, 403, 410, 429, 503] {
        _ = ProviderAnswer(apns: response(status, bytes)).verdict
      }
    },
    FuzzedParser(
      "fcm-answer",
      texts: [
        #"{"error":{"code":404,"status":"NOT_FOUND","details":[{"errorCode":"UNREGISTERED"}]}}"#
      ],
      words: jsonWords
    ) { bytes in
      for status in [200, 400, 401, 403, 404, 429, 503] {
        _ = ProviderAnswer(fcm: response(status, bytes)).verdict
      }
    },
    FuzzedParser(
      "retry-after", texts: ["120", "Sun, 22 Nov 2026 08:49:37 GMT", "9223372036854775807"]
    ) { _ = RetryAfter.span(String(decoding: $0, as: UTF8.self)) },
    FuzzedParser(
      "access-token",
      texts: [#"{"access_token":"a","expires_in":3599}"#, #"{"error":"invalid_grant"}"#],
      words: jsonWords
    ) { bytes in
      for status in [200, 400] {
        let answer = Response(status: status, headers: [], body: bytes)
        guard case .success(let grant) = FCMCredential.read(.answered(answer)) else { continue }
        var tokens = AccessTokens()
        _ = tokens.fetched(grant.accessToken, lives: .seconds(grant.expiresIn), at: now)
      }
    },
    FuzzedParser("cache-control", texts: ["max-age=300, public", "no-store"]) {
      _ = AccountServer.age(String(decoding: $0, as: UTF8.self))
    },
    FuzzedParser("service-account", texts: [serviceAccount], words: jsonWords) {
      _ = try? ServiceAccount(json: $0)
    },
    FuzzedParser("key-set", texts: [keySet], words: jsonWords + ["EC", "OKP", "RSA", "AQAB"]) {
      _ = try? KeySet($0)
    },
  ]

  private static func response(_ status: Int, _ body: [UInt8]) -> Response {
    let field = String(decoding: body.prefix(40), as: UTF8.self)
    return Response(
      status: status, headers: [("retry-after", field)], body: body, link: LinkID(0))
  }

  private static let serviceAccount = """
    {"type":"service_account","project_id":"p","private_key_id":"k","private_key":\
    "-----BEGIN PRIVATE KEY-----\\nAAAA\\n-----END PRIVATE KEY-----\\n",\
    "client_email":"a@p.iam.gserviceaccount.com","token_uri":"https://oauth2.googleapis.com/token"}
    """
  private static let keySet = """
    {"keys":[{"kty":"EC","crv":"P-256","kid":"a","alg":"ES256",\
    "x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",\
    "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"},\
    {"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}
    """
}

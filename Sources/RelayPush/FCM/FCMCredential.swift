import Foundation
import RelayCore
import Synchronization

/// Access tokens of one service account (OAuth 2.0 for server to server).
final class FCMCredential: Sendable {
  typealias Token = AccessTokens.Token
  typealias Answer = @Sendable (Result<Token, TransportFailure>) -> Void

  private let account: ServiceAccount
  private let trustRoots: String?
  private let web: WebEngine
  private let state = Mutex(State())
  private static let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"

  private struct State {
    var tokens = AccessTokens()
    var waiting: [Answer] = []
  }

  init(_ account: ServiceAccount, trustRoots: String?, web: WebEngine) {
    (self.account, self.trustRoots, self.web) = (account, trustRoots, web)
  }

  /// The token to use now. Fetches one from Google when needed, about once in 55 minutes.
  ///
  /// - Parameter answer: called once, before `token` returns or later on the web engine's thread.
  func token(within timeout: Span, at now: Instant, answer: @escaping Answer) {
    let action = state.withLock { state in
      let action = state.tokens.use(at: now)
      if case .use = action { return action }
      state.waiting.append(answer)
      return action
    }
    switch action {
    case .use(let token): answer(.success(token))
    case .wait: break
    case .fetch:
      // This web engine sends only token requests, so no host can crowd out another.
      web.send(within: timeout, to: { "" }) { [account, trustRoots] in
        let assertion = try account.assertion(at: now)
        return WebRequest(
          url: account.tokenURL, headers: ["Content-Type: application/x-www-form-urlencoded"],
          body: Array("grant_type=\(Self.grant)&assertion=\(assertion)".utf8),
          trustRoots: trustRoots)
      } answer: { [self] outcome in
        fetched(outcome, at: now)
      }
    }
  }

  /// FCM refused this token.
  func refused(_ token: Token) { state.withLock { $0.tokens.refused(token) } }

  private func fetched(_ outcome: Outcome, at now: Instant) {
    let grant = Self.read(outcome)
    let (answers, told) = state.withLock { state in
      let told = grant.map {
        state.tokens.fetched($0.accessToken, lives: .seconds($0.expiresIn), at: now)
      }
      if case .failure = told { state.tokens.failed() }
      defer { state.waiting = [] }
      return (state.waiting, told)
    }
    for answer in answers { answer(told) }
  }

  static func read(_ outcome: Outcome) -> Result<Grant, TransportFailure> {
    switch outcome {
    case .failed(let failure):
      return .failure(TransportFailure(failure.code, "no access token: \(failure.message)"))
    case .answered(let answer):
      let decoder = JSONDecoder()
      decoder.keyDecodingStrategy = .convertFromSnakeCase
      // A body that is not a grant counts as a refusal.
      let grant = try? decoder.decode(Grant.self, from: Data(answer.body))
      if answer.status == 200, let grant, grant.isPlain { return .success(grant) }
      // A refusal without an error code is reported by its status.
      let refusal = try? JSONDecoder().decode(Refusal.self, from: Data(answer.body))
      let word = refusal?.error.prefix(64) ?? "status \(answer.status)"
      return .failure(TransportFailure(.invalid, "no access token: \(word)"))
    }
  }

  /// An answer with an access token. The members have RFC 6749's names without the underscores.
  struct Grant: Decodable {
    var accessToken: String
    var expiresIn: Int64

    /// True if the token can stand in a header and is valid for 1 second to 1 day.
    var isPlain: Bool {
      !accessToken.isEmpty && accessToken.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        && (1...86_400).contains(expiresIn)
    }
  }

  private struct Refusal: Decodable { var error: String }
}

internal import Foundation

extension ZoneRelayClient {
  /// The signed-in user's token.
  ///
  /// - Throws: `signedOut` if nobody is signed in.
  func user() async throws -> UserToken {
    if let token { return token }
    return try await signIn(.needed)
  }

  /// Asks the app for a token. Another user than before is told to the sink before anything of the
  /// new user is fetched.
  private func signIn(_ reason: CredentialReason) async throws -> UserToken {
    token = nil
    guard let new = try await credentials(reason) else {
      throw RelayError(.signedOut, "no user is signed in")
    }
    if new.user != state.user {
      try await sink.accountChanged(from: state.user, to: new.user)
      state.change(to: new.user)
      try save()
    }
    token = new
    return new
  }

  /// Sends one question and reads its answer. Waits before it, if an earlier request failed.
  ///
  /// - Returns: whether the question's token has expired, and the answer.
  func ask<Answer: Decodable>(
    _ group: String, _ path: String, _ question: some Encodable, _ answer: Answer.Type
  ) async throws -> (isExpired: Bool, answer: Answer) {
    let answer = try await send(group, path, JSONEncoder().encode(question))
    do {
      return (answer.status == 410, try JSONDecoder().decode(Answer.self, from: answer.body))
    } catch {
      throw RelayError(.badAnswer, "\(path): \(error)")
    }
  }

  /// - Returns: an answer of status 200 or 410.
  private func send(_ group: String, _ path: String, _ body: Data) async throws -> RelayAnswer {
    let asking = try await user().user
    var hasRenewed = false
    while true {
      if let until = backoff.until, until > clock.now {
        try await clock.sleep(for: until - clock.now)
      }
      let token = try await user()
      guard token.user == asking else {
        throw RelayError(.signedOut, "another user has signed in during the request")
      }
      let answer = try await exchange(group, path, body, token)
      switch answer.status {
      case 200, 410:
        backoff.succeeded()
        return answer
      case 401, 421:
        guard !hasRenewed else {
          self.token = nil
          throw RelayError(.signedOut, Self.reason(answer, path))
        }
        hasRenewed = true
        _ = try await signIn(.refused)
      case 429, 500...599:
        throw failed(.busy, Self.reason(answer, path), retryAfter: Self.retryAfter(answer))
      default:
        throw RelayError(.refused, Self.reason(answer, path))
      }
    }
  }

  private func exchange(
    _ group: String, _ path: String, _ body: Data, _ token: UserToken
  ) async throws -> RelayAnswer {
    do {
      return try await transport.send(
        RelayRequest(
          method: "POST", url: relay.endpoint(group, path, installation: installation),
          headers: [
            "Authorization": "Bearer \(token.text)", "Content-Type": "application/json",
          ], body: body))
    } catch {
      throw failed(.unreachable, "\(path): \(error)", retryAfter: nil)
    }
  }

  private func failed(
    _ code: RelayError.Code, _ message: String, retryAfter: Duration?
  ) -> RelayError {
    let wait = backoff.failed(at: clock.now, retryAfter: retryAfter, chance: clock.chance)
    return RelayError(code, message, retryAfter: wait)
  }

  private static func reason(_ answer: RelayAnswer, _ path: String) -> String {
    // A proxy's answer need not be JSON.
    let error = try? JSONDecoder().decode(ErrorAnswer.self, from: answer.body)
    let text = [error?.serverErrorCode, error?.reason].compactMap(\.self).joined(separator: ": ")
    return "\(path): \(answer.status) \(text)"
  }

  private static func retryAfter(_ answer: RelayAnswer) -> Duration? {
    if let text = answer.headers["retry-after"], let seconds = Int64(text), seconds >= 0 {
      return .seconds(min(seconds, 86_400))
    }
    // A proxy's answer need not be JSON.
    let error = try? JSONDecoder().decode(ErrorAnswer.self, from: answer.body)
    return error?.retryAfter.map { .seconds(min(max(0, $0), 86_400)) }
  }

  /// Tells the relay that the device has dealt with a wake.
  func acknowledge(_ wake: UInt32) async throws {
    _ = try await ask(
      "device", "wakes/acknowledge", Acknowledgement(clientId: installation, w: wake),
      Nothing.self)
  }

  private struct Acknowledgement: Encodable {
    var clientId: String
    var w: UInt32

    init(clientId: UUID, w: UInt32) {
      self.clientId = clientId.uuidString.lowercased()
      self.w = w
    }
  }
}

/// An answer whose members the client does not need.
struct Nothing: Decodable {}

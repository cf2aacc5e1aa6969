internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension ZoneRelayClient {
  /// Sends one question and reads its answer. If an earlier request failed, the client first waits.
  ///
  /// - Returns: whether the question's token has expired, and the answer.
  func ask<Answer: Decodable>(
    _ group: RelayAddress.Group, _ path: String, _ question: some Encodable, _ answer: Answer.Type
  ) async throws -> (isExpired: Bool, answer: Answer) {
    let body: Data
    do {
      body = try JSONEncoder().encode(question)
    } catch {
      throw RelayError(.refused, "\(path): the question cannot be written: \(error)")
    }
    let answer = try await send(group, path, body)
    let decoded: Answer
    do {
      decoded = try JSONDecoder().decode(Answer.self, from: answer.body)
    } catch {
      throw fail(.badAnswer, "\(path): the answer cannot be read: \(error)")
    }
    backoff.answered()
    return (answer.isExpiry, decoded)
  }

  /// - Returns: the relay's answer, which may say that the question's token has expired.
  private func send(
    _ group: RelayAddress.Group, _ path: String, _ body: Data
  ) async throws -> RelayAnswer {
    let asking = try await user().user
    var hasRenewed = false
    while true {
      try await waitForRelay()
      let token = try await user()
      guard token.user.hasSameBytes(as: asking) else {
        throw RelayError(.signedOut, "another user has signed in during the request")
      }
      let answer = try await exchange(group, path, body, token)
      switch answer.status {
      case 200: return answer
      case 410 where answer.isExpiry: return answer
      case 401, 421:
        guard !hasRenewed else {
          self.token = nil
          show(.signedOut)
          throw refusal(of: token, answer.reason(path))
        }
        hasRenewed = true
        do {
          _ = try await signIn(.refused)
        } catch {
          // The app may give the refused token again later, so the next request must wait.
          _ = refusal(of: token, answer.reason(path))
          throw error
        }
      default: throw fail(answer.failure(path, at: clock.date))
      }
    }
  }

  /// Waits until the relay may be asked again after a failure. A call of ``refresh(_:)`` may
  /// shorten the wait.
  private func waitForRelay() async throws {
    while true {
      hurry()
      guard let until = backoff.until, until > clock.now else { return }
      let time = until - clock.now
      show(.waiting(until: clock.date.addingTimeInterval(time / .seconds(1))))
      try await pause(for: time)
    }
  }

  /// Shortens the wait for the relay if urgent callers wait. If the relay itself has named a time,
  /// the urgent callers get an error instead, and the wait goes on for the other callers.
  func hurry() {
    guard !urgent.isEmpty, let until = backoff.until, until > clock.now else { return }
    let time = until - clock.now
    guard backoff.isAsked, time > Backoff.shortest else {
      backoff.hurry()
      pause?.cancel()
      return
    }
    let date = clock.date.addingTimeInterval(time / .seconds(1))
    let error = RelayError(
      .busy, "the relay has asked not to be asked again before \(date)", retryAfter: time)
    for caller in urgent { leave(caller, error) }
  }

  private func exchange(
    _ group: RelayAddress.Group, _ path: String, _ body: Data, _ token: UserToken
  ) async throws -> RelayAnswer {
    show(.working)
    do {
      return try await transport.send(
        RelayRequest(
          method: "POST", url: relay.endpoint(group, path, installation: installation),
          headers: [
            "Authorization": "Bearer \(token.text)", "Content-Type": "application/json",
          ], body: body))
    } catch let error as RelayError {
      throw fail(error.code, "\(path): \(error.message)")
    } catch {
      throw fail(.unreachable, "\(path): \(Self.reason(error))")
    }
  }

  /// The error of a URL session prints its whole request; its `localizedDescription` is enough.
  private static func reason(_ error: any Error) -> String {
    error is URLError ? error.localizedDescription : "\(error)"
  }

  /// Notes a failure, so that the next request waits.
  func fail(_ error: RelayError) -> RelayError {
    refused = nil
    let wait = backoff.failed(at: clock.now, retryAfter: error.retryAfter, chance: clock.chance)
    return RelayError(error.code, error.message, retryAfter: wait)
  }

  func fail(_ code: RelayError.Code, _ message: String) -> RelayError {
    fail(RelayError(code, message))
  }

  /// Notes that the relay refuses a token. The next request waits; if it has another token, it
  /// waits a second at most.
  private func refusal(of token: UserToken, _ message: String) -> RelayError {
    let error = fail(.signedOut, message)
    refused = token
    return error
  }

  /// Tells the relay that the device has dealt with a wake.
  func acknowledge(_ wake: UInt32) async throws {
    _ = try await ask(
      .device, "wakes/acknowledge", InstallationQuestion(clientId: installation.name, w: wake),
      Ignored.self)
  }
}

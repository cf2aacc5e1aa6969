import Foundation
import ZoneRelayClient

/// Asks the record server for one user, over the client's transport.
actor RecordServerClient {
  enum Failure: Error { case answered(status: Int) }
  let user: String
  private let url: URL, transport = URLSessionTransport()
  private var token: UserToken?

  init(_ url: URL, user: String) { (self.url, self.user) = (url, user) }

  /// The user's token, for the relay and for the record server.
  func token(_ reason: CredentialReason) async throws -> UserToken {
    if reason == .needed, let token { return token }
    let answer = try await post("sign-in/\(user)", Data(), nil)
    let new = UserToken(user: user, text: String(decoding: answer, as: UTF8.self))
    token = new
    return new
  }

  @discardableResult
  func ask(_ path: String, _ question: some Encodable) async throws -> [Note] {
    let body = try JSONEncoder().encode(question)
    let answer: Data
    do {
      answer = try await post(path, body, try await token(.needed))
    } catch Failure.answered(status: 401) {
      answer = try await post(path, body, try await token(.refused))
    }
    return try JSONDecoder().decode([Note].self, from: answer)
  }

  private func post(_ path: String, _ body: Data, _ token: UserToken?) async throws -> Data {
    let headers = ["Authorization": "Bearer \(token?.text ?? "")"]
    let answer = try await transport.send(
      RelayRequest(
        method: "POST", url: url.appendingPathComponent(path), headers: headers, body: body))
    guard answer.status == 200 else { throw Failure.answered(status: answer.status) }
    return answer.body
  }
}

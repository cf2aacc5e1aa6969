import Foundation
import ZoneRelayClient

actor RecordServerClient {
  private let url: URL, user: String, transport: any RelayTransport
  private var token: UserToken?
  private var signIn: Task<UserToken, any Error>?

  init(_ url: URL, user: String, transport: any RelayTransport = URLSessionTransport()) {
    (self.url, self.user, self.transport) = (url, user, transport)
  }

  /// The user's token, for the relay and the record server. Calls during a sign-in await its token.
  func token(_ reason: CredentialReason) async throws -> UserToken {
    if let signIn { return try await signIn.value }
    if reason == .needed, let token { return token }
    let signIn = Task {
      let answer = try await post("sign-in", Data(user.utf8), nil)
      let token = UserToken(jwt: String(decoding: answer.body, as: UTF8.self))
      if answer.status == 200, let token { return token }
      throw ServerFailure(answer: answer, isOfSignIn: true)
    }
    self.signIn = signIn
    defer { self.signIn = nil }
    token = try await signIn.value
    return try await signIn.value
  }

  func ask(_ question: Question) async throws -> [Note] {
    let body = try JSONEncoder().encode(question)
    var answer = try await post("ask", body, try await token(.needed))
    if answer.status == 401 { answer = try await post("ask", body, try await token(.refused)) }
    guard answer.status == 200 else { throw ServerFailure(answer: answer) }
    return try JSONDecoder().decode([Note].self, from: answer.body)
  }

  private func post(_ path: String, _ body: Data, _ token: UserToken?) async throws -> RelayAnswer {
    let headers = ["Authorization": "Bearer \(token?.text ?? "")"]
    let request = RelayRequest(
      method: "POST", url: url.appendingPathComponent(path), headers: headers, body: body)
    return try await transport.send(request)
  }
}

import Foundation
import Testing
import ZoneRelayClient

@testable import zonerelay_notes

/// What the sample's phone does with the record server's answers to edits.
@Suite struct PhoneTests {
  private let directory: TestDirectory

  init() throws { directory = try TestDirectory() }

  private func phone(
    _ answer: @escaping @Sendable (RelayRequest) async throws -> RelayAnswer
  ) throws -> Phone {
    let relay = RelayAddress(url: FakeServer.url, container: "c", environment: .development)
    let server = FakeServer(answer).client
    return try Phone(directory.file("phone"), relay: relay, server: server) { _ in }
  }

  private func sending(by phone: Phone) -> Task<Void, any Error> {
    Task {
      var backoff = Backoff()
      try await phone.sendEdits(&backoff)
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: [400, 403, 413])
  func `an edit that is refused is set aside and the next one is sent`(status: Int) async throws {
    let phone = try phone { request in
      let question = try JSONDecoder().decode(Question.self, from: request.body ?? Data())
      guard case .save(let edit, _) = question, edit.text != "bad" else {
        return FakeServer.refusal(status)
      }
      return try FakeServer.notes(Note(name: edit.name, revision: 1, text: "good"))
    }
    try await phone.book.edit("a", in: FakeServer.zone, to: "bad")
    let sending = sending(by: phone)
    try await phone.book.edit("b", in: FakeServer.zone, to: "good")
    while await !phone.book.content.pending.isEmpty { await Task.yield() }
    sending.cancel()
    _ = await sending.result
    #expect(await phone.book.content.refused.map(\.name) == ["a"])
    #expect(await phone.book.texts(in: FakeServer.zone) == ["b": "good"])
  }

  /// A task that sends edits ends a little after the phone has gone offline.
  @Test func `an edit made offline waits, even if the sending has not ended yet`() async throws {
    let phone = try phone { _ in
      Issue.record("the offline phone has sent its edit")
      return FakeServer.refusal(503)
    }
    await phone.restart(isOnline: false)
    try await phone.book.edit("a", in: FakeServer.zone, to: "x")
    let sending = sending(by: phone)
    for _ in 0..<1_000 { await Task.yield() }
    sending.cancel()
    _ = await sending.result
    #expect(await phone.book.content.pending.map(\.name) == ["a"])
  }

  /// A proxy or a hotel's page may answer in the record server's place.
  @Test(arguments: ["", "<html>", #"{"error":"no"}"#, "{}"], [400, 403, 404, 413])
  func `an answer of another form is no verdict`(body: String, status: Int) {
    let answer = RelayAnswer(status: status, body: Data(body.utf8))
    #expect(!ServerFailure(answer: answer).isFinal)
  }

  @Test(arguments: [401, 404, 408, 429, 500, 503])
  func `an edit stays pending after an answer that may change`(status: Int) async throws {
    let phone = try phone { _ in FakeServer.refusal(status) }
    try await phone.book.edit("a", in: FakeServer.zone, to: "x")
    await #expect(throws: ServerFailure.self) {
      var backoff = Backoff()
      try await phone.sendEdits(&backoff)
    }
    #expect(await phone.book.content.pending.map(\.name) == ["a"])
  }
}

/// How the sample's phone signs in.
@Suite struct RecordServerClientTests {
  @Test func `callers that need a token at the same time share one sign-in`() async throws {
    let server = FakeServer { _ in try FakeServer.notes() }
    let client = server.client
    let tokens = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<5 { group.addTask { try await client.token(.needed).text } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(tokens == [FakeServer.token(1)])
    #expect(await server.signIns == 1)
  }

  @Test func `a sign-in tells any name, and the user is whom the token names`() async throws {
    for user in ["_jos\u{e9}", "a/b ?%41"] {
      let server = FakeServer { _ in try FakeServer.notes() }
      let client = RecordServerClient(FakeServer.url, user: user, transport: server)
      #expect(try await client.token(.needed).user == user)
    }
    let other = UserTokenServer(text: FakeServer.token(1, of: "_other"))
    let client = RecordServerClient(FakeServer.url, user: "_alice", transport: other)
    #expect(try await client.token(.needed).user == "_other")
    let page = UserTokenServer(text: "<html>")
    let captive = RecordServerClient(FakeServer.url, user: "_alice", transport: page)
    await #expect(throws: ServerFailure.self) { _ = try await captive.token(.needed) }
  }

  @Test func `a refused token is renewed once and the question is asked again`() async throws {
    let server = FakeServer { request in
      request.headers["Authorization"] == "Bearer \(FakeServer.token(2))"
        ? try FakeServer.notes(Note(name: "a", revision: 1, text: "x")) : RelayAnswer(status: 401)
    }
    let client = server.client
    let question = Question.fetch(names: ["a"], zone: FakeServer.zone)
    #expect(try await client.ask(question).map(\.name) == ["a"])
    #expect(await server.signIns == 2)
  }

  @Test func `a refused sign-in is no refusal of the question`() {
    let answer = FakeServer.refusal(403)
    #expect(ServerFailure(answer: answer).isFinal)
    #expect(!ServerFailure(answer: answer, isOfSignIn: true).isFinal)
  }
}

private struct UserTokenServer: RelayTransport {
  let text: String
  func send(_ request: RelayRequest) async throws -> RelayAnswer {
    RelayAnswer(status: 200, body: Data(text.utf8))
  }
}

import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing
import ZoneRelayClient

@testable import zonerelay_notes

/// The sample's record server, asked over HTTP.
@Suite struct RecordServerTests {
  @Test func `each answer closes its connection`() async throws {
    let directory = try TestDirectory()
    let store = try NoteStore(directory.file("notes.sqlite"))
    let tokens = await UserTokens(secret: String(repeating: "s", count: 32), container: "c")
    let token = try await tokens.sign("_alice")
    let server = Application(responder: RecordServer(store: store, tokens: tokens).responder())
    func save(_ owner: String, _ name: String) throws -> ByteBuffer {
      let edit = Edit(zone: ZoneID(name: "Notes", owner: owner), name: name, text: "x")
      let question = Question.Save(edit: edit, installation: UUID())
      return ByteBuffer(bytes: try JSONEncoder().encode(question))
    }
    typealias Asked = (path: String, token: String, body: ByteBuffer, status: HTTPResponse.Status)
    let questions: [Asked] = [
      ("/sign-in/_alice", "", ByteBuffer(), .ok),
      ("/save", token, try save("_alice", "a"), .ok),
      ("/save", token, try save("_alice", ""), .badRequest),
      ("/save", token, ByteBuffer(string: "{"), .badRequest),
      ("/save", token, try save("_bob", "a"), .forbidden),
      ("/save", "no token", try save("_alice", "a"), .unauthorized),
      ("/other", token, ByteBuffer(), .notFound),
    ]
    try await server.test(.router) { client in
      for question in questions {
        try await client.execute(
          uri: question.path, method: .post,
          headers: [.authorization: "Bearer \(question.token)"], body: question.body
        ) { answer in
          #expect(answer.status == question.status, "\(question.path)")
          #expect(answer.headers[.connection] == "close", "\(question.path) \(answer.status)")
        }
      }
    }
  }
}

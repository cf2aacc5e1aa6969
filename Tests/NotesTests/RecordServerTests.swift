import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JWTKit
import Testing
import ZoneRelayClient

@testable import zonerelay_notes

/// The sample's record server, asked over HTTP.
@Suite struct RecordServerTests {
  @Test func `each answer closes its connection`() async throws {
    let directory = try TestDirectory()
    let store = try NoteStore(directory.file("notes.sqlite"))
    let secret = HMACKey(from: Array(repeating: 115, count: 32))
    let keys = await JWTKeyCollection().add(hmac: secret, digestAlgorithm: .sha256)
    let token = try await keys.sign(UserClaims(sub: "_alice", aud: "c"))
    let foreign = try await keys.sign(UserClaims(sub: "_alice", aud: "other"))
    let api = RecordServer(store: store, keys: keys, container: "c")
    let server = Application(responder: api.responder())
    func save(_ owner: String, _ name: String, _ text: String = "x") throws -> ByteBuffer {
      let edit = Edit(zone: ZoneID(name: "Notes", owner: owner), name: name, text: text)
      let question = Question.save(edit, installation: UUID())
      return ByteBuffer(bytes: try JSONEncoder().encode(question))
    }
    typealias Asked = (path: String, token: String, body: ByteBuffer, status: HTTPResponse.Status)
    let questions: [Asked] = [
      ("/sign-in", "", ByteBuffer(string: "_alice"), .ok),
      ("/ask", token, try save("_alice", "a"), .ok),
      ("/ask", token, try save("_alice", ""), .badRequest),
      ("/ask", token, ByteBuffer(string: "{"), .badRequest),
      ("/ask", token, try save("_bob", "a"), .forbidden),
      ("/ask", token, try save("_alice", "b", String(repeating: "t", count: 32 << 10)), .ok),
      (
        "/ask", token, try save("_alice", "c", String(repeating: "t", count: (32 << 10) + 1)),
        .contentTooLarge
      ),
      ("/ask", foreign, try save("_alice", "a"), .unauthorized),
      ("/ask", "no token", try save("_alice", "a"), .unauthorized),
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

import HTTPTypes
import Hummingbird
import ZoneRelayClient

/// The record server's API for phones. Each answer lists the notes that were asked for.
struct RecordServer: Sendable {
  let store: NoteStore, tokens: UserTokens

  func responder() -> CallbackResponder<BasicRequestContext> {
    let router = Router()
    // Your sign-in stands here. The sample believes every name.
    router.post("sign-in/:user") { try await tokens.sign($1.parameters.require("user")) }
    answer("save", on: router) { (asked: Question.Save, user) in
      [try await store.save(asked.edit, by: user, on: asked.installation)].compactMap(\.self)
    }
    answer("fetch", on: router) { (asked: Question.Fetch, user) in
      try await store.fetch(asked.names, in: asked.zone, for: user)
    }
    let routes = router.buildResponder()
    // Without this header Linux's URLSession may repeat a request without its body, and wait 30 s.
    return CallbackResponder { request, context in
      // A fault of the server, such as a full disk, is answered too: the phone tries again.
      var response = Response(status: .internalServerError)
      do { response = try await routes.respond(to: request, context: context) } catch {
        Stage.write("    (record server: \(error))\n")
      }
      response.headers[.connection] = "close"
      return response
    }
  }

  private func answer<Asked: Decodable & Sendable>(
    _ path: RouterPath, on router: Router<BasicRequestContext>,
    _ work: @escaping @Sendable (Asked, _ user: String) async throws -> [Note]
  ) {
    router.post(path) { request, context in
      let token = request.headers[.authorization]?.dropFirst("Bearer ".count) ?? ""
      // Each fault of a token has the same remedy: the phone signs in again.
      guard let user = try? await tokens.user(of: String(token)) else {
        throw HTTPError(.unauthorized, message: "no valid user token")
      }
      return try await work(try await request.decode(as: Asked.self, context: context), user)
    }
  }
}

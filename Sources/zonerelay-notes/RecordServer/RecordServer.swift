import Foundation
import HTTPTypes
import Hummingbird
import JWTKit
import ZoneRelayClient

struct RecordServer: Sendable {
  let store: NoteStore, keys: JWTKeyCollection, container: String

  func responder() -> CallbackResponder<BasicRequestContext> {
    let router = Router()
    // Put your own sign-in here. The sample gives a token for any name and checks nothing.
    router.post("sign-in") { request, _ in
      let user = SubjectClaim(value: String(buffer: try await request.body.collect(upTo: 1_000)))
      return try await keys.sign(UserClaims(sub: user, aud: AudienceClaim(value: container)))
    }
    router.post("ask") { request, context in
      let token = request.headers[.authorization]?.dropFirst("Bearer ".count) ?? ""
      // Each fault of a token has the same remedy: the phone signs in again.
      guard let claims = try? await keys.verify(String(token), as: UserClaims.self),
        claims.aud.value.contains(container)
      else { throw HTTPError(.unauthorized, message: "no valid user token") }
      let user = claims.sub.value
      switch try await request.decode(as: Question.self, context: context) {
      case .save(let edit, let installation):
        return [try await store.save(edit, by: user, on: installation)].compactMap(\.self)
      case .fetch(let names, let zone): return try await store.fetch(names, in: zone, for: user)
      }
    }
    let routes = router.buildResponder()
    // Without `Connection: close`, Linux's URLSession may lose the body on a retry, and wait 30 s.
    return CallbackResponder { request, context in
      var response = Response(status: .internalServerError)  // a fault: the phone tries again
      do { response = try await routes.respond(to: request, context: context) } catch {
        Stage.write("    (record server: \(error))\n")
      }
      response.headers[.connection] = "close"
      return response
    }
  }
}

/// What a user's token says. The relay has the same secret, so both servers accept the token.
struct UserClaims: JWTPayload {
  var sub: SubjectClaim, aud: AudienceClaim, exp = ExpirationClaim(value: .now + 3_600)
  func verify(using algorithm: some JWTAlgorithm) throws { try exp.verifyNotExpired() }
}

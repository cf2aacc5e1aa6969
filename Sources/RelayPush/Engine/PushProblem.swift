/// A setting that cannot work, found before the first push, with a message and a remedy.
/// `zonerelay check` and `serve` print both and stop.
package struct PushProblem: Error, Hashable, Sendable, CustomStringConvertible {
  package var code: Code
  package var message: String
  package var remedy: String

  package init(_ code: Code, _ message: String, remedy: String) {
    (self.code, self.message, self.remedy) = (code, message, remedy)
  }

  package var description: String { "\(text) (\(remedy))" }

  /// The code and the message, as operators see them.
  package var text: String { "\(code.text): \(message)" }

  /// Runs `body`. If `body` throws an error, throws a problem that says what is wrong and names the
  /// remedy.
  static func explain<Value>(
    _ code: Code, _ what: String, remedy: String, _ body: () throws -> Value
  ) throws(PushProblem) -> Value {
    do {
      return try body()
    } catch {
      throw PushProblem(code, "\(what): \(error)", remedy: remedy)
    }
  }

  package struct Code: Hashable, Sendable {
    /// The code's text. It never changes, because operators look it up in docs/troubleshooting.md.
    package let text: String
    private init(_ text: String) { self.text = text }

    package static let endpoint = Code("push_endpoint_invalid")
    package static let topic = Code("push_topic_invalid")
    package static let providerKey = Code("push_provider_key_invalid")
    package static let keyID = Code("push_key_id_invalid")
    package static let teamID = Code("push_team_id_invalid")
    package static let subject = Code("push_subject_invalid")
    package static let keyPair = Code("push_key_pair_mismatch")
    package static let serviceAccount = Code("push_service_account_invalid")
    package static let trustRoots = Code("push_trust_roots_unreadable")
    package static let certificate = Code("push_certificate_unreadable")
    package static let certificateKey = Code("push_certificate_key_invalid")
    package static let certificateTime = Code("push_certificate_expired")
    package static let certificateTopic = Code("push_certificate_topic_mismatch")
    package static let limit = Code("push_limit_invalid")
  }
}

internal import Foundation
internal import ZoneRelayClient

/// An answer of the relay in memory: JSON, or an error.
struct Answer: Error {
  var status = 200
  var json: Data
}

extension Answer {
  /// - Parameter members: what `JSONSerialization` can write.
  init(status: Int = 200, _ members: [String: Any]) {
    self.status = status
    // All members have a form in JSON, so writing them does not fail.
    json = (try? JSONSerialization.data(withJSONObject: members)) ?? Data()
  }

  /// The answer of a poll that brings nothing.
  static let empty = Answer(json: Data())

  init(status: Int, code: String, reason: String, after seconds: Int? = nil) {
    self.init(status: status, Self.error(code, reason, after: seconds))
  }

  static func badRequest(_ reason: String) -> Answer {
    Answer(status: 400, code: "BAD_REQUEST", reason: reason)
  }

  /// The JSON members of an error, be it of the whole request or of one item of an answer.
  static func error(_ code: String, _ reason: String, after seconds: Int? = nil) -> [String: Any] {
    var members: [String: Any] = [
      "uuid": UUID().uuidString, "serverErrorCode": code, "reason": reason,
    ]
    if let seconds { members["retryAfter"] = seconds }
    return members
  }

  /// The members of the answer's JSON, which the code above has written; empty if the answer has no
  /// JSON.
  var members: [String: Any] {
    (try? JSONSerialization.jsonObject(with: json)) as? [String: Any] ?? [:]
  }

  var relayed: RelayAnswer {
    var answer = RelayAnswer(status: status, body: json)
    if let seconds = members["retryAfter"] as? Int { answer.headers["retry-after"] = "\(seconds)" }
    return answer
  }
}

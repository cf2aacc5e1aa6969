internal import Foundation
internal import ZoneRelayClient

/// An answer of the relay in memory: JSON, or an error.
struct Answer: Error {
  var status = 200
  var json: Data

  /// - Parameter members: what `JSONSerialization` can write.
  init(status: Int = 200, _ members: [String: Any]) {
    self.status = status
    // JSON has a form for each of the members above, so this does not fail.
    json = (try? JSONSerialization.data(withJSONObject: members)) ?? Data()
  }

  /// The answer of a poll that brings nothing.
  static let empty = Answer(json: Data())

  private init(json: Data) { self.json = json }

  init(status: Int, code: String, reason: String, after seconds: Int? = nil) {
    self.init(status: status, Self.error(code, reason, after: seconds))
  }

  /// The members of an error, of a request or an item.
  static func error(_ code: String, _ reason: String, after seconds: Int? = nil) -> [String: Any] {
    var members: [String: Any] = [
      "uuid": UUID().uuidString, "serverErrorCode": code, "reason": reason,
    ]
    if let seconds { members["retryAfter"] = seconds }
    return members
  }

  var relayed: RelayAnswer {
    var answer = RelayAnswer(status: status, body: json)
    // An error's JSON was written above.
    let members = try? JSONSerialization.jsonObject(with: json) as? [String: Any]
    if let seconds = members?["retryAfter"] as? Int { answer.headers["retry-after"] = "\(seconds)" }
    return answer
  }
}

/// A refusal of every request, or only of the requests with a given topic or token prefix.
struct AnswerFault: Equatable, Sendable {
  var status: Int
  /// Apple's reason. The FCM stand-in answers with Google's word for the status instead.
  var reason: APNsReason
  /// The seconds of a `retry-after` header; nil means no such header.
  var retryAfter: Int?
  /// How far, in milliseconds, the `timestamp` of a 410 lies in the past.
  var age: Int64?
  /// The `apns-topic` that the request must have; nil means any topic.
  var topic: String?
  /// The prefix that the device token must have; nil means any token.
  var tokens: String?

  /// Reads `answer WORD [retry-after=SECONDS] [age=DURATION] [topic=TOPIC] [tokens=PREFIX]`.
  init(_ words: inout FaultText) throws(StandinError) {
    let word = try words.next("a status, or a reason of Apple's")
    if let status = Int(word), let reason = Self.usual[status] {
      (self.status, self.reason) = (status, reason)
    } else if let reason = APNsReason(rawValue: word) {
      (status, self.reason) = (reason.status, reason)
    } else {
      throw words.wrong(
        "names no refusal: \(word)",
        remedy: "write 400, 403, 410, 413, 429, 500 or 503, or a reason as Apple spells it")
    }
    retryAfter = try words.option("retry-after") { Int($0).flatMap { $0 >= 0 ? $0 : nil } }
    age = try words.option("age", FaultText.milliseconds)
    topic = try words.option("topic") { $0 }
    tokens = try words.option("tokens") { $0.lowercased() }
  }

  /// The reason that is used when the fault names only a status.
  private static let usual: [Int: APNsReason] = [
    400: .badDeviceToken, 403: .invalidProviderToken, 410: .unregistered, 413: .payloadTooLarge,
    429: .tooManyRequests, 500: .internalServerError, 503: .serviceUnavailable,
  ]

  func fits(topic: String?, token: String) -> Bool {
    if let wanted = self.topic, wanted != topic { return false }
    return tokens.map { token.lowercased().hasPrefix($0) } ?? true
  }

  /// The time, in milliseconds since 1970, that Apple gives with a 410; nil for another status.
  func timestamp(at milliseconds: Int64) -> Int64? {
    status == 410 ? milliseconds - (age ?? 0) : nil
  }

  var text: String {
    var words = ["answer \(reason.rawValue)"]
    if let retryAfter { words.append("retry-after=\(retryAfter)") }
    if let age { words.append("age=\(age)ms") }
    if let topic { words.append("topic=\(topic)") }
    if let tokens { words.append("tokens=\(tokens)") }
    return words.joined(separator: " ")
  }
}

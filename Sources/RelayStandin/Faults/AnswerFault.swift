/// A refusal for every request, or for every request with this topic or token.
struct AnswerFault: Equatable, Sendable {
  var status: Int
  /// Apple's reason; other providers use their own word for the status.
  var reason: APNsReason
  /// Seconds, for a `retry-after` header.
  var retryAfter: Int?
  /// The age, in milliseconds, of a 410's `timestamp`.
  var age: Int64?
  /// The `apns-topic` that the request must have.
  var topic: String?
  /// The prefix that the device token must have.
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

  /// The reason for a status that is given without one.
  private static let usual: [Int: APNsReason] = [
    400: .badDeviceToken, 403: .invalidProviderToken, 410: .unregistered, 413: .payloadTooLarge,
    429: .tooManyRequests, 500: .internalServerError, 503: .serviceUnavailable,
  ]

  func fits(topic: String?, token: String) -> Bool {
    if let wanted = self.topic, wanted != topic { return false }
    return tokens.map { token.lowercased().hasPrefix($0) } ?? true
  }

  /// Apple gives a time with the reason for a dead token.
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

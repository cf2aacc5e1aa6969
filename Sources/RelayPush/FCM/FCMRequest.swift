package import RelayCore

/// A push in the form that FCM requires: a data message, whose values are strings.
package enum FCMRequest {
  package static let shape = RequestShape(
    fields: [
      .init("authorization", repeats: true), .init("content-type", repeats: true),
    ],
    kept: ["retry-after"], probation: false)

  /// FCM keeps a message for four weeks at most.
  package static let livesMax = Span.days(28)

  package static func make(_ push: Push, project: String, token: String, at now: Instant) -> Request
  {
    make(project: project, token: token, body: body(push, at: now))
  }

  static func make(project: String, token: String, body: [UInt8]) -> Request {
    let path = "/v1/projects/\(project)/messages:send"
    let bearer = "Bearer \(token)"
    let type = "application/json"
    let room = path.utf8.count + bearer.utf8.count + type.utf8.count
    return Request(shape, valueBytes: room, body: body) { values in
      for text in [path, bearer, type] { values.value(text) }
    }
  }

  /// The body: `{"message":{"token":…,"data":{"aps":"…","ck":"…","zr":"…"},"android":{…}}}`.
  static func body(_ push: Push, at now: Instant) -> [UInt8] {
    var json = JSONText()
    json.raw("{\"message\":{")
    json.member("token", String(decoding: push.address.token, as: UTF8.self))
    json.key("data")
    json.raw("{")
    for (name, value) in members(of: push.payload) { json.member(name, value) }
    json.raw("},\"android\":{")
    switch push.intent {
    case .background: json.member("priority", "NORMAL")
    case .alert: json.member("priority", "HIGH")
    }
    json.member("ttl", seconds(max(.zero, min(push.expires - now, livesMax))))
    json.member("collapse_key", push.collapse)
    json.raw("}}}")
    return json.bytes
  }

  /// The body of a message that FCM checks and does not deliver.
  static func validation(ofTopic topic: String) -> [UInt8] {
    var json = JSONText()
    json.raw("{\"validate_only\":true,\"message\":{")
    json.member("topic", topic)
    json.raw(",\"data\":{\"zr\":\"{}\"}}}")
    return json.bytes
  }

  /// A duration in protobuf's JSON form, such as `3.5s`.
  static func seconds(_ span: Span) -> String {
    let (whole, rest) = span.milliseconds.quotientAndRemainder(dividingBy: 1_000)
    guard rest > 0 else { return "\(whole)s" }
    var digits = String(rest + 1_000).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(whole).\(digits)s"
  }

  /// The members of a payload, each with its value as the payload has it. The payload must be a
  /// JSON object without blanks between its tokens, as the relay writes it.
  static func members(of payload: [UInt8]) -> [(name: String, value: String)] {
    var members: [(String, String)] = []
    var (start, depth, isText, isEscaped) = (1, 0, false, false)
    var name: String?
    for (place, byte) in payload.enumerated() {
      if isText {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isText = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isText = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: ":") where depth == 1 && name == nil && place > start + 1:
        name = String(decoding: payload[(start + 1)..<(place - 1)], as: UTF8.self)
        start = place + 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      let isEnd = depth == 0 && place > 0 || depth == 1 && byte == UInt8(ascii: ",")
      if isEnd, let found = name.take() {
        members.append((found, String(decoding: payload[start..<place], as: UTF8.self)))
        start = place + 1
      }
    }
    return members
  }
}

import Foundation

/// Apple's documented rules for a request, except those for its provider token.
///
/// Each rule depends on the request alone and returns Apple's reason, or nil. The topic is always
/// required, because the relay always sends it.
enum PushRules {
  static let payloadBytesMax = 4_096
  static let collapseBytesMax = 64

  /// Push types that Apple documents; only the payloads of `alert` and `background` are checked.
  static let pushTypes: Set<String> = [
    "alert", "background", "location", "voip", "complication", "fileprovider", "mdm",
    "liveactivity", "pushtotalk", "widgets", "controls",
  ]

  /// Checks path and method; the caller applies this rule before all others.
  static func route(_ request: PushRequest) -> APNsReason? {
    if request.deviceToken == nil { return .badPath }
    return request.method == "POST" ? nil : .methodNotAllowed
  }

  /// Checks device token, headers and payload.
  static func content(_ request: PushRequest) -> APNsReason? {
    device(request) ?? headers(request) ?? payload(request)
  }

  private static func device(_ request: PushRequest) -> APNsReason? {
    guard let token = request.deviceToken, !token.isEmpty else { return .missingDeviceToken }
    // A token may begin with a word such as `gone`, whose letters are not hexadecimal.
    if DeviceBehavior(token: token) != .ordinary { return nil }
    return token.isHex ? nil : .badDeviceToken
  }

  private static func headers(_ request: PushRequest) -> APNsReason? {
    let names = request.headers.map(\.name).filter {
      $0.hasPrefix("apns-") || $0 == "authorization"
    }
    if Set(names).count != names.count { return .duplicateHeaders }
    guard let topic = request.header("apns-topic"), !topic.isEmpty else { return .missingTopic }
    if topic.utf8.count > 255 || !topic.isPlain(and: "-._") { return .badTopic }
    if let id = request.header("apns-id"), !isCanonicalUUID(id) { return .badMessageID }
    if let time = request.header("apns-expiration"),
      Int64(time) == nil || time.contains(where: { !$0.isNumber })
    {
      return .badExpirationDate
    }
    if let collapse = request.header("apns-collapse-id"),
      collapse.isEmpty || collapse.utf8.count > collapseBytesMax
    {
      return .badCollapseID
    }
    if let priority = request.header("apns-priority"), !["1", "5", "10"].contains(priority) {
      return .badPriority
    }
    guard let type = request.header("apns-push-type"), pushTypes.contains(type) else {
      return .invalidPushType
    }
    // Without `apns-priority` the priority is 10, and 10 is an error for a background push.
    let isBackground = type == "background"
    return isBackground && request.header("apns-priority") != "5" ? .badPriority : nil
  }

  private static func payload(_ request: PushRequest) -> APNsReason? {
    if request.bodyBytes > payloadBytesMax { return .payloadTooLarge }
    guard let payload = request.payload, !payload.isEmpty else { return .payloadEmpty }
    let aps = payload["aps"] as? [String: Any]
    switch request.header("apns-push-type") {
    case "background":
      guard let aps, aps.count == 1, (aps["content-available"] as? NSNumber)?.intValue == 1 else {
        return .invalidPushType
      }
      return nil
    case "alert":
      let shows = ["alert", "badge", "sound"].contains { aps?[$0] != nil }
      return shows ? nil : .invalidPushType
    default:
      return nil
    }
  }

  /// True for lower-case hexadecimal groups of 8-4-4-4-12 digits.
  private static func isCanonicalUUID(_ text: String) -> Bool {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    return groups.map(\.utf8.count) == [8, 4, 4, 4, 12] && text == text.lowercased()
      && groups.allSatisfy(\.isHex)
  }
}

extension StringProtocol {
  /// True for ASCII letters, digits and `others` only.
  func isPlain(and others: String = "") -> Bool {
    allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || others.contains($0)) }
  }

  var isHex: Bool { allSatisfy { $0.isASCII && $0.isHexDigit } }
}

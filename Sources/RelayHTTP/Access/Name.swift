import RelayCore
import RelayWire

/// Reads and checks names in requests: 1 to 255 bytes of UTF-8 without control characters.
enum Name {
  static func isValid(_ text: String, bytesMax: Int) -> Bool {
    guard 1...bytesMax ~= text.utf8.count else { return false }
    if text.utf8.allSatisfy({ 0x20..<0x7f ~= $0 }) { return true }
    return text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
  }

  static func read(_ value: JSONCursor, _ limits: HTTPLimits) throws(JSONProblem) -> String {
    let text = try value.string()
    guard isValid(text, bytesMax: limits.nameBytes) else {
      throw value.problem(
        "must have 1 to \(limits.nameBytes) bytes and no control characters")
    }
    return text
  }

  /// The user name that CloudKit's clients send in place of the authenticated user's own name.
  static let currentUser = "__defaultOwner__"

  /// Reads a user's record name in a producer's request. A producer's request has no authenticated
  /// user, so `__defaultOwner__` is refused.
  static func user(_ value: JSONCursor, _ limits: HTTPLimits) throws(JSONProblem) -> UserID {
    let text = try read(value, limits)
    guard text != currentUser else {
      throw value.problem(
        "must be a user's record name: \(currentUser) stands for the authenticated user, and a "
          + "producer's request has none")
    }
    return UserID(text)
  }

  /// Reads a zone. A missing owner or `__defaultOwner__` means `owner`; if `owner` is nil, both are
  /// refused.
  static func zone(
    _ value: JSONCursor, owner: UserID?, _ limits: HTTPLimits
  ) throws(JSONProblem) -> ZoneID {
    let object = try value.object()
    try object.refuseOtherSpellings(of: KnownMembers.zoneID)
    let name = try read(object.required("zoneName"), limits)
    guard let named = object.optional("ownerRecordName") else {
      guard let owner else { throw object.missing("ownerRecordName") }
      return ZoneID(name: name, owner: owner)
    }
    guard let owner else { return ZoneID(name: name, owner: try user(named, limits)) }
    let text = try read(named, limits)
    return ZoneID(name: name, owner: text == currentUser ? owner : UserID(text))
  }
}

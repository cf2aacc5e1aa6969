import RelayCore
import RelayWire

/// Names as they come in: 1 to 255 bytes of UTF-8, no control characters.
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

  /// A zone. An owner left out, or `__defaultOwner__`, means `owner`.
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
    let text = try read(named, limits)
    if text == "__defaultOwner__", let owner { return ZoneID(name: name, owner: owner) }
    return ZoneID(name: name, owner: UserID(text))
  }
}

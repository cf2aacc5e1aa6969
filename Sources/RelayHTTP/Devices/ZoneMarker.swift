import RelayCore
import RelayWire

/// Where a list of zones goes on: after this zone. It names a zone and entitles to nothing, so it
/// is not signed.
struct ZoneMarker {
  let zone: ZoneID

  init(zone: ZoneID) { self.zone = zone }

  /// The owner's length tells where the zone's name begins: names may hold any character.
  var text: String {
    let owner = zone.owner.name
    return Base64.urlText(Array("\(owner.utf8.count):\(owner)\(zone.name)".utf8))
  }

  init(text: String) throws(WireError) {
    let wrong = WireError(.badRequest, "continuationMarker must be one that zones/list gave")
    guard let bytes = Base64.bytes(text), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      let length = Int(String(decoding: bytes[..<colon], as: UTF8.self)), length >= 0,
      length <= bytes.count - colon - 1,
      let owner = String(validating: bytes[(colon + 1)..<(colon + 1 + length)], as: UTF8.self),
      let name = String(validating: bytes[(colon + 1 + length)...], as: UTF8.self)
    else { throw wrong }
    zone = ZoneID(name: name, owner: UserID(owner))
  }
}

import RelayCore
import RelayWire

/// The place where a list of zones continues: after this zone. The marker names a zone and gives
/// access to nothing, so it is not signed.
struct ZoneMarker {
  let zone: ZoneID

  init(zone: ZoneID) { self.zone = zone }

  /// The owner's length shows where the zone's name begins, because names may hold any character.
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

import RelayCore
import RelayWire

/// The marker at the end of a page of zones: the next page begins after this zone. The marker names
/// a zone and gives access to nothing, so it is not signed.
struct ZoneMarker {
  let zone: ZoneID

  init(zone: ZoneID) { self.zone = zone }

  /// The marker's text: the length of the owner's name, then the owner's name and the zone's name.
  /// The length shows where the second name begins, because names may contain any character.
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

import RelayCore
import RelayWire

extension JSONWriter {
  /// Writes the member `"zoneID": {…}`.
  mutating func zoneID(_ zone: ZoneID) {
    key("zoneID")
    beginObject()
    string("zoneName", zone.name)
    string("ownerRecordName", zone.owner.name)
    endObject()
  }
}

/// A zone of one scope.
struct ZoneKey: Hashable, Comparable, Sendable {
  var scope: Scope
  var zone: ZoneID

  static func < (left: ZoneKey, right: ZoneKey) -> Bool {
    (left.scope, left.zone) < (right.scope, right.zone)
  }
}

extension Change {
  var zoneKey: ZoneKey { ZoneKey(scope: scope, zone: zone) }
}

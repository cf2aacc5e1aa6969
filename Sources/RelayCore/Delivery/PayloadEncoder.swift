/// Encodes payloads, always within the limit. If a payload is too large, zones are left out of
/// `zr.z` first, and `m` states this. Then parts of `ck` and `aps` are dropped, first in CloudKit's
/// documented order and then in this project's order, and `p` states this. `sid` is never dropped.
/// An alert keeps a visible part: its texts are shortened, the longest text first.
package enum PayloadEncoder {
  /// - Parameter aim: a size below `bytesMax` to reach if possible.
  package static func encode(_ text: WakeText, bytesMax: Int, aim: Int? = nil) -> Payload {
    let sizes = [aim, bytesMax].compactMap(\.self)
    for size in sizes { if let payload = visible(text, bytesMax: size) { return payload } }
    var silent = text
    (silent.info, silent.badge) = (nil, nil)
    for size in sizes {
      if let payload = smaller(silent, showing: nil, bytesMax: size) { return payload }
    }
    preconditionFailure("names are bounded as they come in, so that a bare payload always fits")
  }

  /// The payload of an alert; `nil` if the wake has no visible part, or no visible part fits.
  private static func visible(_ text: WakeText, bytesMax: Int) -> Payload? {
    for shown in text.info?.shown(badge: text.badge) ?? [] {
      guard var payload = smaller(text, showing: shown, bytesMax: bytesMax) else { continue }
      payload.isVisible = true
      return payload
    }
    return nil
  }

  private static func smaller(
    _ text: WakeText, showing shown: PayloadCut.Part?, bytesMax: Int
  ) -> Payload? {
    if let whole = fit(text, PayloadCut(), bytesMax: bytesMax) { return whole }
    for cut in PayloadCut.all(showing: shown) {
      guard var payload = fit(text, cut, bytesMax: bytesMax) else { continue }
      guard let least = cut.textBytesMax else { return payload }
      // Binary search for the longest texts that fit.
      var (fits, tooLong) = (least, (text.info?.alert.longestText ?? 0) + 1)
      while fits + 1 < tooLong {
        var longer = cut
        longer.textBytesMax = (fits + tooLong) / 2
        if let more = fit(text, longer, bytesMax: bytesMax) {
          (payload, fits) = (more, (fits + tooLong) / 2)
        } else {
          tooLong = (fits + tooLong) / 2
        }
      }
      return payload
    }
    return nil
  }

  /// The payload after `cut`, with as many zones in `zr` as fit; `nil` if the payload does not fit
  /// even without zones.
  private static func fit(_ text: WakeText, _ cut: PayloadCut, bytesMax: Int) -> Payload? {
    let head = head(text, cut)
    guard head.count < bytesMax else { return nil }
    let zones = text.zones.map(encode)
    var named = zones.count
    while true {
      let isMore = text.isMore || named < zones.count
      let tail = tail(text, zones: zones.prefix(named), isMore: isMore)
      let size = head.count + tail.count
      if size <= bytesMax {
        return Payload(bytes: head + tail, zonesNamed: named, isPruned: !cut.isNothing)
      }
      guard named > 0 else { return nil }
      // Drop the zones that certainly do not fit; each zone takes its length and a comma.
      var excess = size - bytesMax
      while excess > 0 && named > 0 {
        named -= 1
        excess -= zones[named].count + 1
      }
    }
  }

  private static func tail(
    _ text: WakeText, zones: ArraySlice<[UInt8]>, isMore: Bool
  ) -> [UInt8] {
    var json = JSONText()
    json.raw(",\"zr\":{")
    json.member("w", text.wake)
    if text.subjects > 0 { json.member("n", text.subjects) }
    if !zones.isEmpty {
      json.key("z")
      json.array(zones) { $0.append($1) }
    }
    if text.hasQuery { json.member("q", 1) }
    if isMore { json.member("m", 1) }
    if let notBefore = text.notBefore {
      // Whole seconds, rounded up, so that the device does not fetch too early.
      json.member("nb", (notBefore.milliseconds + 999) / 1_000)
    }
    json.raw("}}")
    return json.bytes
  }

  private static func encode(_ zone: WakeText.NamedZone) -> [UInt8] {
    var json = JSONText()
    json.raw("[")
    json.string(zone.zone.name)
    json.raw(",")
    json.string(zone.zone.owner.name)
    json.raw(",")
    json.number(zone.database.rawValue)
    if zone.waits { json.raw(",1") }
    json.raw("]")
    return json.bytes
  }

  private static func head(_ text: WakeText, _ cut: PayloadCut) -> [UInt8] {
    let dropped = cut.dropped
    var json = JSONText()
    json.raw("{\"aps\":")
    json.append(APSText.encode(text.info, badge: text.badge, cut))
    json.raw(",\"ck\":{\"ce\":")
    json.number(text.scope.environment.rawValue)
    if !dropped.contains(.container) { json.member("cid", text.scope.container) }
    if !dropped.contains(.user) { json.member("ckuserid", text.user.name) }
    if !dropped.contains(.notification) { json.member("nid", text.content.notification.text) }
    if !cut.isNothing || text.content.isCut { json.member("p", 1) }
    encode(text.content, dropped: dropped, into: &json)
    json.raw("}")
    return json.bytes
  }

  private static func encode(
    _ content: NotificationContent, dropped: Set<PayloadCut.Part>, into json: inout JSONText
  ) {
    switch content.kind {
    case .query: json.raw(",\"qry\":{\"dbs\":")
    case .zone: json.raw(",\"fet\":{\"dbs\":")
    case .database: json.raw(",\"met\":{\"dbs\":")
    }
    json.number(content.database.rawValue)
    if case .query(let record, let reason, let values, _) = content.kind,
      !dropped.contains(.record)
    {
      json.member("fo", reason.rawValue)
      json.member("rid", record)
      if !values.isEmpty {
        json.raw(",\"af\":{")
        for field in values {
          json.key(field.name)
          json.value(field.value)
        }
        json.raw("}")
      }
    }
    json.member("sid", content.subscription.name)
    if !dropped.contains(.zone) {
      json.member("zid", content.zone.name)
      json.member("zoid", content.zone.owner.name)
    }
    json.raw("}")
  }
}

extension NotificationContent {
  /// Whether values that the notification should carry did not fit.
  var isCut: Bool {
    if case .query(_, _, _, let isCut) = kind { return isCut }
    return false
  }
}

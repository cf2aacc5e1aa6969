import RelayCore
import Testing

/// Any wake's payload is within the limit, valid JSON, and pruned in the documented order.
@Suite struct PayloadPropertyTests {
  private func name(_ draw: inout SeededRandom, _ bytes: Int) -> String {
    let letters = ["a", "Z", "_", "-", "é", "\"", "\\", "日", "🙂"]
    var text = ""
    let target = draw.chance(20) ? bytes : draw.below(bytes + 1)
    while true {
      let room = target - text.utf8.count
      let run = String(repeating: "x", count: min(8, max(1, room)))
      let part = draw.chance(25) ? run : draw.pick(letters)
      if part.utf8.count > room { return text }
      text += part
    }
  }

  private func zone(_ draw: inout SeededRandom) -> ZoneID {
    ZoneID(name: name(&draw, 255), owner: UserID(name(&draw, 255)))
  }

  private func info(_ draw: inout SeededRandom) -> NotificationInfo? {
    guard draw.chance(60) else { return nil }
    var info = NotificationInfo()
    func maybe(_ bytes: Int) -> String? { draw.chance(40) ? name(&draw, bytes) : nil }
    info.alert.body = maybe(3_000)
    info.alert.bodyKey = maybe(100)
    info.alert.bodyArguments = (0..<draw.below(4)).map { _ in name(&draw, 100) }
    info.alert.title = maybe(500)
    info.alert.subtitle = maybe(500)
    info.alert.actionKey = maybe(255)
    info.alert.launchImage = maybe(255)
    info.sound = maybe(255)
    info.category = maybe(1_024)
    info.isContentAvailable = draw.chance(50)
    info.isMutable = draw.chance(50)
    return info
  }

  private func text(_ draw: inout SeededRandom) -> WakeText {
    let kind: NotificationContent.Kind =
      draw.chance(50)
      ? .query(
        record: name(&draw, 255), reason: .updated,
        values: (0..<draw.below(3)).map {
          Field(name: "f\($0)", value: .string(name(&draw, 300)))
        }, isCut: draw.chance(10))
      : draw.chance(50) ? .zone : .database
    let content = NotificationContent(
      subscription: SubscriptionID(name(&draw, 255)), notification: Sample.nid(3),
      database: draw.pick(Database.allCases), zone: zone(&draw), kind: kind)
    let zones = (0..<draw.below(65)).map { _ in
      WakeText.NamedZone(
        zone: zone(&draw), database: draw.pick(Database.allCases), waits: draw.chance(30))
    }
    return WakeText(
      scope: Scope(container: name(&draw, 255), environment: .production),
      user: UserID(name(&draw, 255)), wake: UInt32(draw.below(1 << 32 - 1)), content: content,
      info: info(&draw), subjects: zones.count, zones: zones, hasQuery: draw.chance(30),
      isMore: draw.chance(20), notBefore: draw.chance(30) ? .s(7) : nil)
  }

  @Test func `a payload fits, is valid JSON, and names all zones or marks the rest`() {
    var draw = SeededRandom(seed: 8)
    for round in 0..<800 {
      let text = text(&draw)
      let payload = PayloadEncoder.encode(text, bytesMax: 4_096)
      guard payload.bytes.count <= 4_096, let json = JSONChecker.read(payload.bytes) else {
        Issue.record("round \(round): \(String(decoding: payload.bytes, as: UTF8.self))")
        return
      }
      var named = 0
      if case .array(let zones)? = json["zr"]?["z"] { named = zones.count }
      #expect(named == payload.zonesNamed)
      #expect(named == text.zones.count || json["zr"]?["m"] == .number("1"))
      #expect((json["zr"]?["nb"] != nil) == (text.notBefore != nil), "never cut")
      let sub = json["ck"]?["qry"] ?? json["ck"]?["fet"] ?? json["ck"]?["met"]
      #expect(sub?["sid"] == .string(text.content.subscription.name))
      #expect(sub?["zid"] == .string(text.content.zone.name))
      #expect((json["ck"]?["p"] != nil) == payload.isPruned || text.content.isCutShort)
    }
  }

  /// A payload with one more zone would be too long.
  @Test func `a payload names as many zones as fit`() {
    var draw = SeededRandom(seed: 9)
    for round in 0..<300 {
      var text = text(&draw)
      text.info = nil
      guard text.zones.count > 1 else { continue }
      let whole = PayloadEncoder.encode(text, bytesMax: .max).bytes.count
      let limit = whole - 1 - draw.below(min(whole / 2, 4_000))
      let payload = PayloadEncoder.encode(text, bytesMax: limit)
      guard !payload.isPruned, payload.zonesNamed < text.zones.count else { continue }
      text.isMore = text.isMore || payload.zonesNamed + 1 < text.zones.count
      text.zones = Array(text.zones.prefix(payload.zonesNamed + 1))
      let longer = PayloadEncoder.encode(text, bytesMax: .max)
      #expect(longer.bytes.count > limit, "round \(round)")
    }
  }

  /// Earlier, control characters in a subscription's category stopped the daemon at each start.
  @Test(arguments: [1_024, 3_993, 4_096])
  func `a payload fits whatever texts a user's subscription has`(bytesMax: Int) {
    let longest = String(repeating: "\"", count: 255)
    let zone = ZoneID(name: longest, owner: UserID(longest))
    var info = NotificationInfo()
    let wild = String(repeating: "\u{1}", count: 1_024)
    (info.category, info.sound, info.alert.body, info.isContentAvailable, info.isMutable) = (
      wild, wild, wild, true, true
    )
    let content = NotificationContent(
      subscription: SubscriptionID(longest), notification: Sample.nid(3), database: .private,
      zone: zone, kind: .query(record: longest, reason: .created, values: [], isCut: false))
    let text = WakeText(
      scope: Scope(container: longest, environment: .production), user: UserID(longest),
      wake: .max, content: content, info: info, subjects: 999,
      zones: [WakeText.NamedZone(zone: zone, database: .private)], hasQuery: true, isMore: true,
      badge: .max, notBefore: .s(7))
    let payload = PayloadEncoder.encode(text, bytesMax: bytesMax)
    #expect(payload.bytes.count <= bytesMax && JSONChecker.read(payload.bytes) != nil)
    #expect(String(decoding: payload.bytes, as: UTF8.self).contains("\"sid\":"))
  }

  /// As the room shrinks, parts are dropped one by one in the documented order; `sid` never is.
  @Test func `payload parts are dropped in the documented order`() {
    var info = NotificationInfo()
    info.alert.body = "body"
    info.alert.bodyKey = "bodyKey"
    info.alert.bodyArguments = ["argument"]
    info.alert.actionKey = "actionKey"
    info.alert.launchImage = "launchImage"
    info.sound = "sound"
    info.category = "category"
    let content = NotificationContent(
      subscription: SubscriptionID("subscription"), notification: Sample.nid(3),
      database: .private, zone: Sample.zone,
      kind: .query(record: "record", reason: .created, values: [], isCut: false))
    let text = WakeText(
      scope: Sample.scope, user: Sample.owner, wake: 1, content: content, info: info, subjects: 1,
      zones: [WakeText.NamedZone(zone: Sample.zone, database: .private)], hasQuery: true,
      isMore: false)
    let marks = [
      "\"z\":[", Sample.scope.container, "\"rid\"", "\"sound\"", "launch-image", "action-loc-key",
      "loc-args", "\"loc-key\"", "\"category\"", "\"nid\"", "\"zid\"", "ckuserid",
    ]
    var dropped: [String] = []
    for room in (114...600).reversed() {
      let payload = PayloadEncoder.encode(text, bytesMax: room)
      let json = String(decoding: payload.bytes, as: UTF8.self)
      for mark in marks where !json.contains(mark) && !dropped.contains(mark) {
        dropped.append(mark)
      }
      #expect(payload.bytes.count <= room && json.contains("\"sid\":\"subscription\""))
      #expect(json.contains("\"body\":\"") || json.contains("\"alert\":\""), "never dropped")
      if dropped.count == marks.count { break }
    }
    #expect(dropped == marks)
  }

  @Test func `a number that JSON cannot express becomes null`() {
    var json = JSONText()
    json.raw("{")
    for (name, value) in [
      ("a", FieldValue.double(.infinity)), ("b", .double(1e300)), ("c", .bytes([0, 255])),
      ("d", .location(latitude: 1.5, longitude: -2)), ("e", .list([.int64(1), .list([])])),
      ("f", .timestamp(Instant(milliseconds: 5))), ("g", .asset("x")),
      ("h", .reference(recordName: "r", zone: nil)),
    ] {
      json.key(name)
      json.value(value)
    }
    json.raw("}")
    #expect(
      String(decoding: json.bytes, as: UTF8.self)
        == #"{"a":null,"b":1e+300,"c":"00ff","d":[1.5,-2.0],"e":[1,[]],"f":5,"g":"x","h":"r"}"#)
    #expect(JSONChecker.read(json.bytes) != nil)
  }
}

extension NotificationContent {
  fileprivate var isCutShort: Bool {
    if case .query(_, _, _, let isCut) = kind { return isCut }
    return false
  }
}

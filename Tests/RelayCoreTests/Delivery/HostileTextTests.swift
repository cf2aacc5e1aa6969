import Testing

@testable import RelayCore

/// Whatever texts a subscription has, its payload fits, and the payload shows at least a part of
/// the title, the subtitle and the body.
@Suite struct HostileTextTests {
  private static let letters = [
    "a", "\u{1}", "\u{1f}", "\"", "\\", "é", "日", "🙂", "👩‍👩‍👧‍👦",
    "e" + String(repeating: "\u{301}", count: 40),
  ]

  private func name(_ draw: inout SeededRandom, _ most: Int) -> String {
    let letter = draw.pick(Self.letters)
    let bytes = draw.chance(50) ? most : draw.below(most + 1)
    return String(repeating: letter, count: bytes / letter.utf8.count)
  }

  private func info(_ draw: inout SeededRandom) -> NotificationInfo {
    var info = NotificationInfo()
    func maybe() -> String? { draw.chance(60) ? name(&draw, 1_024) : nil }
    func list() -> [String] { (0..<draw.below(5)).map { _ in name(&draw, 400) } }
    (info.alert.title, info.alert.subtitle, info.alert.body) = (maybe(), maybe(), maybe())
    (info.alert.titleKey, info.alert.subtitleKey, info.alert.bodyKey) = (maybe(), maybe(), maybe())
    (info.alert.titleArguments, info.alert.bodyArguments) = (list(), list())
    (info.alert.actionKey, info.alert.launchImage) = (maybe(), maybe())
    (info.sound, info.category) = (maybe(), maybe())
    info.isContentAvailable = draw.chance(50)
    return info
  }

  private func text(_ info: NotificationInfo, badge: Int? = nil, zones: Int = 3) -> WakeText {
    let long = String(repeating: "\"", count: 255)
    let zone = ZoneID(name: long, owner: UserID(long))
    return WakeText(
      scope: Sample.scope, user: Sample.owner, wake: .max,
      content: NotificationContent(
        subscription: SubscriptionID(long), notification: Sample.nid(3), database: .private,
        zone: zone, kind: .zone), info: info, subjects: zones,
      zones: (0..<zones).map { _ in WakeText.NamedZone(zone: zone, database: .private) },
      hasQuery: true, isMore: false, badge: badge)
  }

  @Test(arguments: [3_993, 4_096])
  func `every payload fits, and a payload with a text shows an alert`(bytesMax: Int) throws {
    var draw = SeededRandom(seed: 12)
    for round in 0..<400 {
      let info = info(&draw)
      let badge = draw.chance(30) ? 7 : nil
      let payload = PayloadEncoder.encode(
        text(info, badge: badge), bytesMax: bytesMax, aim: draw.chance(20) ? bytesMax / 2 : nil)
      let json = try #require(JSONChecker.read(payload.bytes), "round \(round)")
      #expect(payload.bytes.count <= bytesMax)
      let (aps, alert) = (json["aps"], json["aps"]?["alert"])
      let hasTexts = [info.alert.title, info.alert.subtitle, info.alert.body].contains { $0 != nil }
      if hasTexts {
        #expect(alert != nil && payload.isVisible, "round \(round): a text can always be shortened")
        for (key, whole) in [
          ("title", info.alert.title), ("subtitle", info.alert.subtitle), ("body", info.alert.body),
        ] where whole != nil {
          let isThere = alert?[key] != nil || key == "body" && alert?["title"] == nil
          #expect(isThere, "round \(round): \(key) is gone")
        }
      }
      let isSeen = alert != nil || aps?["badge"] != nil || aps?["sound"] != nil
      #expect(isSeen == payload.isVisible)
      if !isSeen { #expect(aps == .object(["content-available": .number("1")])) }
    }
  }

  /// The longest text is cut first; the other texts stay as they are.
  @Test func `a long body is shortened before the title and the subtitle`() throws {
    var info = NotificationInfo()
    info.alert.title = "A title"
    info.alert.subtitle = "A subtitle"
    info.alert.body = String(repeating: "word ", count: 1_000)
    let payload = PayloadEncoder.encode(text(info), bytesMax: 4_096)
    let alert = try #require(JSONChecker.read(payload.bytes)?["aps"]?["alert"])
    #expect(alert["title"] == .string("A title") && alert["subtitle"] == .string("A subtitle"))
    guard case .string(let body)? = alert["body"] else { return #expect(Bool(false), "no body") }
    #expect(body.hasSuffix("…") && body.count > 1_000)
    #expect(payload.isPruned && payload.isVisible && payload.bytes.count <= 4_096)
  }

  @Test func `texts are cut between characters`() {
    let family = "👩‍👩‍👧‍👦"
    #expect(JSONText.shortened("abc", bytesMax: 3) == "abc")
    #expect(JSONText.shortened("abcdef", bytesMax: 5) == "ab…")
    #expect(JSONText.shortened(family + family, bytesMax: 40) == family + "…")
    #expect(JSONText.shortened("\u{1}\u{1}\u{1}", bytesMax: 9) == "\u{1}…")
    #expect(JSONText.shortened("abcdef", bytesMax: 0) == "a")
    #expect(JSONText.shortened(family + family, bytesMax: 0) == "👩", "of a long one its beginning")
    #expect(JSONText.byteCount("a\"\\\u{1}é") == 1 + 2 + 2 + 6 + 2)
  }

  @Test func `a payload with only a sound or only a badge stays visible`() throws {
    for part in 0..<2 {
      var info = NotificationInfo()
      info.category = String(repeating: "\u{1}", count: 1_024)
      if part == 0 { info.sound = "ping" }
      let payload = PayloadEncoder.encode(
        text(info, badge: part == 1 ? 3 : nil), bytesMax: 4_096)
      #expect(payload.isVisible && payload.bytes.count <= 4_096)
    }
  }

  /// A notification whose texts are empty is no alert. Earlier, such a notification went out with
  /// high priority and showed nothing.
  @Test func `a notification with empty texts is a background wake`() {
    for part in 0..<4 {
      var info = NotificationInfo()
      if part == 0 { info.alert.body = "" }
      if part == 1 { (info.alert.title, info.alert.subtitleKey) = ("", "") }
      if part == 2 { info.sound = "" }
      if part == 3 { (info.alert.body, info.sound) = ("", "") }
      #expect(!info.isVisible && info.runsApp)
      #expect(!PayloadEncoder.encode(text(info), bytesMax: 4_096).isVisible)
      info.alert.title = "seen"
      #expect(info.isVisible && PayloadEncoder.encode(text(info), bytesMax: 4_096).isVisible)
    }
  }

  /// Keys of the app's own texts cannot be shortened.
  @Test func `an alert is not visible if its only text cannot fit`() {
    var info = NotificationInfo()
    info.alert.bodyKey = String(repeating: "\u{1}", count: 1_024)
    let payload = PayloadEncoder.encode(text(info), bytesMax: 4_096)
    #expect(!payload.isVisible && payload.bytes.count <= 4_096)
    info.alert.title = "seen"
    #expect(PayloadEncoder.encode(text(info), bytesMax: 4_096).isVisible)
  }
}

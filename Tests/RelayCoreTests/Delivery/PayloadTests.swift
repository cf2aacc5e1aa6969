@testable import RelayCore
import Testing

/// Expected payloads, byte for byte, in the form of CloudKit's own pushes.
@Suite struct PayloadTests {
  private let nid = Identifier(text: "943172cd-0000-4000-8000-000000000001")!
  private let user = UserID("_ca83")

  private func text(_ content: NotificationContent, _ info: NotificationInfo? = nil) -> WakeText {
    WakeText(
      scope: Scope(container: "iCloud.com.example.notes", environment: .development), user: user,
      wake: 17, content: content, info: info, subjects: 1, zones: [], hasQuery: false, isMore: false
    )
  }

  private func content(
    _ kind: NotificationContent.Kind, _ database: Database, _ zone: ZoneID, sid: String = "S1"
  ) -> NotificationContent {
    NotificationContent(
      subscription: SubscriptionID(sid), notification: nid, database: database, zone: zone,
      kind: kind)
  }

  private func encode(_ text: WakeText) -> String {
    String(decoding: PayloadEncoder.encode(text, bytesMax: 4_096).bytes, as: UTF8.self)
  }

  private let query = NotificationContent.Kind.query(
    record: "R1", reason: .created, values: [], isCut: false)
  private let ck = """
    "ck":{"ce":2,"cid":"iCloud.com.example.notes","ckuserid":"_ca83",\
    "nid":"943172cd-0000-4000-8000-000000000001",
    """

  private func expected(_ aps: String, _ sub: String, _ zr: String) -> String {
    "{\"aps\":\(aps),\(ck.trimmingNewline)\(sub)},\"zr\":\(zr)}"
  }

  @Test func `a silent public query push has only content-available in its aps`() {
    var text = text(content(query, .public, .publicDefault))
    text.hasQuery = true
    #expect(
      encode(text)
        == expected(
          #"{"content-available":1}"#,
          #""qry":{"dbs":2,"fo":1,"rid":"R1","sid":"S1","# + #""zid":"_defaultZone","#
            + #""zoid":"_defaultOwner"}"#,
          #"{"w":17,"n":1,"q":1}"#))
  }

  /// The moment to wait for is never rounded to an earlier one.
  @Test func `a payload marks a hot zone and says until when to wait`() {
    var text = text(content(.zone, .private, Sample.zone))
    text.zones = [
      WakeText.NamedZone(zone: Sample.zone, database: .private),
      WakeText.NamedZone(zone: ZoneID(name: "News", owner: user), database: .shared, waits: true),
    ]
    text.notBefore = Instant(milliseconds: 1_700_000_000_001)
    #expect(
      encode(text).hasSuffix(
        #","zr":{"w":17,"n":1,"z":[["ReadingList","_abc",1],["News","_ca83",3,1]],"#
          + #""nb":1700000001}}"#))
  }

  @Test func `a visible query push in the private database has a plain text alert`() {
    var info = NotificationInfo()
    info.alert.body = "New Chat"
    info.sound = "default"
    let zone = ZoneID(name: ZoneID.defaultName, owner: user)
    #expect(
      encode(text(content(query, .private, zone), info))
        == expected(
          #"{"alert":"New Chat","sound":"default"}"#,
          #""qry":{"dbs":1,"fo":1,"rid":"R1","sid":"S1","zid":"_defaultZone","zoid":"_ca83"}"#,
          #"{"w":17,"n":1}"#))
  }

  @Test func `a query push carries the values that its subscription names`() {
    let values = [
      Field(name: "title", value: .string("a \"b\"\n")), Field(name: "body", value: .int64(-3)),
    ]
    let kind = NotificationContent.Kind.query(
      record: "R1", reason: .deleted, values: values, isCut: false)
    #expect(
      encode(text(content(kind, .public, .publicDefault)))
        == expected(
          #"{"content-available":1}"#,
          #""qry":{"dbs":2,"fo":3,"rid":"R1","af":{"title":"a \"b\"\u000a","body":-3},"#
            + #""sid":"S1","zid":"_defaultZone","zoid":"_defaultOwner"}"#,
          #"{"w":17,"n":1}"#))
  }

  @Test func `a database push names the changed zone`() {
    let zone = ZoneID(name: "com.apple.coredata.cloudkit.zone", owner: user)
    var text = text(content(.database, .private, zone))
    text.zones = [WakeText.NamedZone(zone: zone, database: .private)]
    #expect(
      encode(text)
        == expected(
          #"{"content-available":1}"#,
          #""met":{"dbs":1,"sid":"S1","zid":"com.apple.coredata.cloudkit.zone","zoid":"_ca83"}"#,
          #"{"w":17,"n":1,"z":[["com.apple.coredata.cloudkit.zone","_ca83",1]]}"#))
  }

  @Test func `a zone push uses fet and a shared database push uses met`() {
    let zone = ZoneID(name: "ReadingList", owner: UserID("_other"))
    #expect(
      encode(text(content(.zone, .private, ZoneID(name: "ReadingList", owner: user))))
        == expected(
          #"{"content-available":1}"#,
          #""fet":{"dbs":1,"sid":"S1","zid":"ReadingList","zoid":"_ca83"}"#, #"{"w":17,"n":1}"#))
    #expect(
      encode(text(content(.database, .shared, zone)))
        == expected(
          #"{"content-available":1}"#,
          #""met":{"dbs":3,"sid":"S1","zid":"ReadingList","zoid":"_other"}"#, #"{"w":17,"n":1}"#))
  }

  @Test func `a rich alert is a dictionary and can include content-available`() {
    var info = NotificationInfo()
    info.alert.title = "T"
    info.alert.bodyKey = "KEY"
    info.alert.bodyArguments = ["name"]
    info.alert.launchImage = "L.png"
    info.category = "C"
    info.isContentAvailable = true
    info.isMutable = true
    #expect(
      encode(text(content(.zone, .private, ZoneID(name: "Z", owner: user)), info))
        == expected(
          #"{"alert":{"title":"T","loc-key":"KEY","loc-args":["name"],"launch-image":"L.png"},"#
            + #""category":"C","content-available":1,"mutable-content":1}"#,
          #""fet":{"dbs":1,"sid":"S1","zid":"Z","zoid":"_ca83"}"#, #"{"w":17,"n":1}"#))
  }

  @Test func `a payload with values that did not fit is marked as pruned`() {
    let kind = NotificationContent.Kind.query(
      record: "R1", reason: .updated, values: [], isCut: true)
    let payload = PayloadEncoder.encode(
      text(content(kind, .public, .publicDefault)), bytesMax: 4_096)
    #expect(String(decoding: payload.bytes, as: UTF8.self).contains(#","p":1,"qry":"#))
    #expect(!payload.isPruned)
  }

  @Test func `only a wake that must show a text has a cut without any text`() {
    let texts = PayloadCut.all(showing: .texts)
    #expect(texts.last?.textBytesMax == 0)
    #expect(texts.dropLast().allSatisfy { $0.textBytesMax != 0 })
    for shown in [nil, .keys, .badge, .sound] as [PayloadCut.Part?] {
      #expect(PayloadCut.all(showing: shown).allSatisfy { $0.textBytesMax != 0 })
    }
  }

  /// Without the arguments of the alert's text the payload fits, so the text stays whole.
  @Test func `a text is whole if a part that is dropped makes enough room`() {
    var info = NotificationInfo()
    info.alert.body = String(repeating: "x", count: 100)
    info.alert.bodyArguments = (0..<100).map { _ in String(repeating: "y", count: 100) }
    let payload = PayloadEncoder.encode(
      text(content(.zone, .private, ZoneID(name: "Z", owner: user)), info), bytesMax: 2_000)
    let shown = String(decoding: payload.bytes, as: UTF8.self)
    #expect(payload.isVisible && payload.isPruned && !shown.contains("yy"))
    #expect(shown.contains(#""\#(info.alert.body ?? "")""#))
  }
}

extension String {
  /// The text without the line ends that a multi-line literal adds.
  fileprivate var trimmingNewline: String { filter { $0 != "\n" } }
}

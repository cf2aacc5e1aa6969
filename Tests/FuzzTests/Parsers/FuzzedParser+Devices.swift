@testable import RelayCore
@testable import RelayHTTP
import RelayWire

/// Parsers of what devices send.
extension FuzzedParser {
  static let fromDevices: [FuzzedParser] = [
    FuzzedParser("subscription", texts: subscriptionSeeds, words: jsonWords + subscriptionWords) {
      guard let root = try? JSONTree($0).root else { return }
      for database in [Database.public, .private, .shared] {
        let reader = SubscriptionReader(
          database: database, user: UserID("_a"), limits: HTTPLimits())
        _ = try? reader.subscription(root, id: SubscriptionID("s"))
      }
    },
    FuzzedParser("user-token", texts: tokenSeeds, words: [".", "eyJ", "=", "_"]) {
      let header = TokenHeader(of: String(decoding: $0, as: UTF8.self))
      _ = header?.algorithm
    },
    FuzzedParser("change-token", seeds: [changeToken]) { bytes in
      _ = ChangeToken.open(bytes, feed: feed, reader: UserID("_a"), with: FuzzKeys())
      _ = Base64.bytes(String(decoding: bytes, as: UTF8.self))
    },
    FuzzedParser("sealed-text", texts: [sealedText], words: ["-", "_", "="]) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      _ = SealedText.open(text, for: .courier, count: 2, with: FuzzKeys())
      // The input of the fuzz test once more, now with a correct authentication code, so that the
      // parser reads the lengths inside.
      let keys = FuzzKeys()
      var body = bytes.prefix(600).map { $0 }
      body.replaceSubrange(0..<min(4, body.count), with: [0, 0, 0, 7])
      let code = keys.code(of: [SealedText.Purpose.digest.rawValue] + body, keyID: 7) ?? []
      _ = SealedText.open(
        Base64.urlText(body + code.prefix(16)), for: .digest, count: 1, with: keys)
    },
    FuzzedParser("created-token", seeds: [CreatedToken.draw(with: FuzzKeys())]) {
      _ = CreatedToken.isOurs($0, with: FuzzKeys())
    },
  ]

  private static let feed = FeedKey(scope: scope, kind: .notifications(UserID("_a")))
  private static let changeToken = ChangeToken.seal(
    FeedCursor(era: 1, position: Position(bits: 77)), feed: feed, reader: UserID("_a"),
    with: FuzzKeys())
  private static let sealedText = SealedText.seal(["one", "two"], for: .courier, with: FuzzKeys())
  private static let tokenSeeds = [
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImEifQ.eyJzdWIiOiJfYSJ9.AAAA",
    "eyJhbGciOiJub25lIn0..",
  ]
  private static let subscriptionWords = [
    "filterBy", "comparator", "NEAR", "IN", "LIST_CONTAINS_ALL", "BEGINS_WITH", "systemFieldName",
    "createdUserRecordName", "modTime", "distance", "firesOn", "firesOnce", "zoneWide",
    "additionalFields", "alertLocalizationArgs", "STRING_LIST", "LIST",
  ]
  private static let subscriptionSeeds = [
    """
    {"subscriptionID":"s","subscriptionType":"query","query":{"recordType":"T","filterBy":[\
    {"comparator":"EQUALS","fieldName":"f","fieldValue":{"value":"v","type":"STRING"}},\
    {"comparator":"IN","fieldName":"n","fieldValue":{"value":[1,2],"type":"INT64_LIST"}},\
    {"comparator":"NEAR","fieldName":"p","distance":10.5,"fieldValue":\
    {"value":{"latitude":1,"longitude":2},"type":"LOCATION"}},\
    {"comparator":"EQUALS","systemFieldName":"recordName","fieldValue":{"value":"A"}}]},\
    "firesOn":["create","update"],"firesOnce":true,"notificationInfo":{"alertBody":"b",\
    "alertLocalizationArgs":["f"],"shouldBadge":true,"additionalFields":["f"],"title":"t",\
    "collapseIDKey":"f","category":"c"}}
    """,
    #"{"subscriptionType":"zone","zoneID":{"zoneName":"Z"},"notificationInfo":{"soundName":"s"}}"#,
    #"{"subscriptionType":"database","recordType":"T","urgent":true}"#,
  ]
}

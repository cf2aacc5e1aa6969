@testable import RelayCore
@testable import RelayHTTP
import RelayWire

/// Requests from which other inputs are made.
extension FuzzedParser {
  static let connectionWords = [
    "\u{1}\u{0}", "\u{1}\u{1}", "\u{1}\u{2}", "\u{1}\u{3}", "\u{1}\u{4}", "\u{1}\u{5}",
    "\u{1}\u{6}", "\u{1}\u{7}", "\u{1}\u{8}", "\r\n", "\r\n\r\n", "Host: x\r\n",
    "Transfer-Encoding: chunked\r\n", "Content-Length: 5\r\n", "Content-Length: ",
    "Expect: 100-continue\r\n", "Upgrade: websocket\r\n", "Connection: close\r\n", "HTTP/1.0",
    "0\r\n\r\n", "5\r\n12345\r\n", "ffffffffffffffff\r\n", "Content-Encoding: gzip\r\n",
    "Accept: text/event-stream\r\n", "Last-Event-ID: 4294967295\r\n", "HEAD ", "OPTIONS ",
    "CONNECT ", "http://x/", "?clientId=", "&limit=", "&marker=", "%2F", "%",
    "Origin: https://app.example.com\r\n", "Access-Control-Request-Method: POST\r\n",
    "X-Apple-CloudKit-Request-KeyID: k1\r\n", "ckWebAuthToken=",
  ]

  private static let place = "iCloud.com.example.notes/development"
  private static let userToken =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJfYSIsImF1ZCI6ImlDbG91ZC5jb20uZXhhbXBs"
    + "ZS5ub3RlcyIsImV4cCI6NDEwMjQ0NDgwMH0.YRHcEYl_EKE4zuHfQRuCPRg3wWiHva-5hjVca7qI7d0"

  private static func post(
    _ path: String, _ body: String, _ fields: String = "Authorization: Bearer \(userToken)\r\n"
  ) -> String {
    "POST \(path) HTTP/1.1\r\nHost: x\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  private static func device(_ endpoint: String, _ body: String) -> String {
    post("/device/1/\(place)/\(endpoint)", body)
  }

  private static func database(_ endpoint: String, _ body: String) -> String {
    post("/database/1/\(place)/private/\(endpoint)", body)
  }

  private static let zone = #"{"zoneName":"Z","ownerRecordName":"_a"}"#
  private static let client = FuzzRelay.device.client.text
  private static let feedToken = Base64.text(
    ChangeToken.seal(
      FeedCursor(era: 1, position: Position(bits: 77)),
      feed: FeedKey(scope: scope, kind: .notifications(UserID("_a"))), reader: UserID("_a"),
      with: FuzzKeys()))
  private static let courierToken = SealedText.seal(
    [scope.container, "development", "_a", FuzzRelay.device.client.text, "4102444800000"],
    for: .courier, with: FuzzKeys())

  static let apiSeeds: [String] = deviceSeeds + databaseSeeds + producerSeeds + courierSeeds

  private static let courierSeeds: [String] = [
    "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n\u{1}\u{0}GET /health/ready HTTP/1.0\r\n\r\n",
    "GET /courier/1/\(courierToken) HTTP/1.1\r\nHost: x\r\n\r\n\u{1}\u{0}\u{1}\u{7}\u{1}\u{8}",
    "GET /courier/1/\(courierToken) HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n"
      + "Last-Event-ID: 7\r\nOrigin: https://app.example.com\r\n\r\n"
      + "\u{1}\u{0}\u{1}\u{4}\u{1}\u{7}\u{1}\u{5}\u{1}\u{2}",
    "OPTIONS /device/1/\(place)/tokens/list HTTP/1.1\r\nHost: x\r\n"
      + "Origin: https://app.example.com\r\nAccess-Control-Request-Method: POST\r\n\r\n",
  ]

  private static let deviceSeeds: [String] = [
    device("tokens/create", #"{"apnsEnvironment":"development","clientId":"\#(client)"}"#),
    device(
      "tokens/register",
      #"{"apnsEnvironment":"production","apnsToken":"0102","clientId":"\#(client)"}"#),
    device("tokens/unregister", #"{"clientId":"\#(client)"}"#),
    "GET /device/1/\(place)/tokens/list?ckWebAuthToken=\(userToken) HTTP/1.1\r\nHost: x\r\n\r\n",
    device(
      "notifications/changes?clientId=\(client)",
      #"{"previousServerChangeToken":"\#(feedToken)"}"#),
    device("notifications/markRead", #"{"notificationIDs":["\#(client)"]}"#),
    device("badge/modify", #"{"badge":3,"apnsTopic":"com.example.notes"}"#),
    device("wakes/acknowledge", #"{"clientId":"\#(client)","w":3}"#),
    device("tokens/register", #"{"transport":"fcm","token":"abc","clientId":"\#(client)"}"#),
    device(
      "tokens/register",
      #"{"transport":"webpush","subscription":{"endpoint":"https://push.example.net/a?b","keys":"#
        + #"{"p256dh":"BOA0_pyFvPgWTiLImSpn2flNndE49Au5wuQpDhz-3ObbZg2-bWqXDkhf6dJLxw-wlQoHCI"#
        + #"Iptf1ZonUAIrXKydQ","auth":"AAECAwQFBgcICQoLDA0ODw"}}}"#),
  ]

  private static let databaseSeeds: [String] = [
    database(
      "subscriptions/modify",
      #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"s","#
        + #""subscriptionType":"query","query":{"recordType":"T","filterBy":[{"comparator":"#
        + #""NEAR","fieldName":"p","distance":10.5,"fieldValue":{"value":{"latitude":1,"#
        + #""longitude":2},"type":"LOCATION"}}]},"firesOn":["create"]}}]}"#),
    database("subscriptions/lookup", #"{"subscriptions":[{"subscriptionID":"s"}]}"#),
    database("subscriptions/list?limit=5&marker=AAAAAAAAAAE", "{}"),
    database("zones/list", #"{"marker":"AA"}"#),
    database("zones/lookup", #"{"zones":[\#(zone)]}"#),
    database("changes/database", #"{"syncToken":"\#(feedToken)","resultsLimit":5}"#),
    database(
      "changes/zone",
      #"{"zones":[{"zoneID":\#(zone),"syncToken":"\#(feedToken)","reverse":true}]}"#),
    database("zones/changes", "{}"),
    database(
      "records/changes", #"{"zoneID":\#(zone),"desiredRecordTypes":["T"],"resultsLimit":3}"#),
  ]

  private static let event =
    #"{"specversion":"1.0","id":"1","source":"/r","type":"zonerelay.zone.deleted","data":"#
    + #"{"database":"private","zoneID":\#(zone)}}"#
  private static let bearer = "Authorization: Bearer producer-key-of-at-least-32-characters\r\n"
  private static let events = "/events/1/\(place)"

  private static let producerSeeds: [String] = [
    post(events, event, bearer + "Content-Type: application/cloudevents+json\r\n"),
    post(events, "[\(event)]", bearer + "Content-Type: application/cloudevents-batch+json\r\n"),
    "POST \(events) HTTP/1.1\r\nHost: x\r\n\(bearer)Transfer-Encoding: chunked\r\n"
      + "Expect: 100-continue\r\nContent-Type: application/x-ndjson\r\n\r\n\u{1}\u{0}"
      + "\(String(event.utf8.count, radix: 16))\r\n\(event)\r\n\u{1}\u{0}0\r\n\r\n",
    post(
      events, #"{"database":"private","zoneID":\#(zone)}"#,
      bearer + "Content-Type: application/json\r\nce-specversion: 1.0\r\nce-id: a%20b\r\n"
        + "ce-source: /r\r\nce-type: zonerelay.zone.deleted\r\n"),
    post(
      events, event,
      "Content-Type: application/cloudevents+json\r\nX-Apple-CloudKit-Request-KeyID: k1\r\n"
        + "X-Apple-CloudKit-Request-ISO8601Date: 2026-11-21T03:00:00Z\r\n"
        + "X-Apple-CloudKit-Request-SignatureV1: MEYCIQDD6dI+R4BWiLWt114h+3V5fdy77CdweSx5+ZRTL"
        + "eSg6gIhAIlRLzjNzxHvH2W1YLlSF09v6/XQf9Luukkd0GDfKygJ\r\n"),
  ]

  static let controlSeeds: [String] = [
    "GET /status HTTP/1.1\r\nHost: x\r\n\r\n", "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /devices?user=_a&client=\(client) HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /feedback?after=0&limit=5&environment=production HTTP/1.1\r\nHost: x\r\n\r\n",
    post("/devices/forget", #"{"client":"\#(client)"}"#, ""),
    post("/expire-tokens", #"{"container":"c","environment":"development","user":"_a"}"#, ""),
    post("/drain", "", ""),
  ]
}

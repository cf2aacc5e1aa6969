import Foundation
import NIOCore

/// Callers with the valid token of one user. ``AbuseScene`` has filled this user's zones and
/// notifications.
extension HostileCaller {
  static let hostileUser = "_mallory"

  static let users: [HostileCaller] = [
    // Each request saves 40 subscriptions. 19 of them use up the bytes that a user may have, and
    // the daemon refuses the others. The next request replaces the 19.
    HostileCaller("largest subscriptions", threads: 2, sending: largestSubscriptions),
    HostileCaller("most subscriptions", sending: mostSubscriptions),
    HostileCaller(
      "read marks of unknown notifications", threads: 2,
      sending: device(
        "notifications/markRead",
        #"{"notificationIDs":[\#(list(0..<200) { #""\#(uuid($0))""# })]}"#)),
    HostileCaller(
      "courier devices without end",
      sending: device("tokens/create", #"{"apnsEnvironment":"development"}"#)),
    HostileCaller(
      "push tokens without end", threads: 2,
      sending: device(
        "tokens/register",
        #"{"apnsEnvironment":"development","apnsToken":"\#(pushToken)"}"#)),
    HostileCaller(
      "pages with broken tokens", threads: 2,
      sending: zonePages(#","syncToken":"broken\#(StampedRequest.mark)""#)),
    HostileCaller("the largest pages", threads: 8, sending: largestPages),
    HostileCaller(
      "all notifications again and again", threads: 4,
      sending: allNotifications),
    HostileCaller("lookups", threads: 2, sending: lookups),
    HostileCaller("pages that are not read", threads: 2) { turn in
      guard let connection = turn.connection() else { return }
      let request = allNotifications.bytes(turn.number)
      for _ in 0..<2_000 where !turn.isOver() {
        guard connection.send(request) else { return }
        turn.answers.count(.sent, of: turn.name)
      }
    },
    HostileCaller("the largest pages, not read") { turn in
      let request = largestPages.bytes(turn.number)
      let all = (0..<300).compactMap { _ in turn.connection() }.filter { $0.send(request) }
      turn.answers.count(.sent, all.count, of: turn.name)
      for _ in 0..<4 where !turn.isOver() { Thread.sleep(forTimeInterval: 1) }
    },
    HostileCaller(
      "texts that compare slowly", threads: 2,
      sending: database(
        "subscriptions/modify",
        #"{"operations":[{"operationType":"\#(slowText(1_000_000))","subscription":{}}]}"#,
        "private")),
    HostileCaller("slow bodies") { turn in
      let token = MeasuredDaemon.userToken(hostileUser)
      let head = """
        POST /device/1/\(MeasuredDaemon.scope)/notifications/changes HTTP/1.1\r\nhost: relay\r\n\
        authorization: Bearer \(token)\r\ncontent-length: 4194304\r\n\r\n{
        """
      turn.drip(head, connections: 300)
    },
    HostileCaller(
      "deep JSON", threads: 2,
      sending: device(
        "notifications/changes", #"{"syncToken":\#(String(repeating: "[", count: 4_000_000))"#)),
    HostileCaller(
      "wide JSON", threads: 4,
      sending: device("notifications/changes", #"{"a":[\#(list(0..<1_040_000) { _ in "100" })]}"#)),
  ]

  private static let largestSubscriptions: StampedRequest = {
    let values = list(1..<128) { #""\#($0)""# }
    let filter =
      #"{"comparator":"IN","fieldName":"title","fieldValue":{"type":"STRING_LIST","value":["#
      + #""\#(StampedRequest.mark)",\#(values)]}}"#
    return subscriptions(40, named: "s", filters: list(0..<20) { _ in filter })
  }()

  private static let mostSubscriptions = subscriptions(
    200, named: "m",
    filters: #"{"comparator":"NOT_EQUALS","fieldName":"title","#
      + #""fieldValue":{"type":"STRING","value":"\#(StampedRequest.mark)"}}"#)

  private static func subscriptions(
    _ count: Int, named name: String, filters: String
  ) -> StampedRequest {
    let operations = list(0..<count) { index in
      #"{"operationType":"create","subscription":{"subscriptionID":"\#(name)\#(index)","#
        + #""subscriptionType":"query","query":{"recordType":"Article","filterBy":[\#(filters)]},"#
        + #""notificationInfo":{"shouldSendContentAvailable":true}}}"#
    }
    return database("subscriptions/modify", #"{"operations":[\#(operations)]}"#, "public")
  }

  private static let pushToken = "dead" + String(repeating: StampedRequest.mark, count: 5)

  private static let lookups: StampedRequest = {
    let ids = list(0..<200) { #"{"subscriptionID":"\#($0)\#(StampedRequest.mark)"}"# }
    return database("subscriptions/lookup", #"{"subscriptions":[\#(ids)]}"#, "public")
  }()

  private static let allNotifications = device("notifications/changes", "{}")
  private static let largestPages = zonePages("")

  /// - Parameter token: the JSON member with the token, which each zone's item contains; empty for
  ///   no token.
  private static func zonePages(_ token: String) -> StampedRequest {
    let zones = list(0..<AbuseScene.hostileZones) {
      #"{"zoneID":{"zoneName":"Z\#($0)"}\#(token)}"#
    }
    return database("changes/zone", #"{"zones":[\#(zones)]}"#, "private")
  }

  private static func device(_ endpoint: String, _ body: String) -> StampedRequest {
    StampedRequest(
      RequestText.device(endpoint, token: MeasuredDaemon.userToken(hostileUser), body))
  }

  private static func database(
    _ endpoint: String, _ body: String, _ database: String
  ) -> StampedRequest {
    StampedRequest(
      RequestText.database(
        database, endpoint, token: MeasuredDaemon.userToken(hostileUser), body))
  }

  /// A UUID that ends with `StampedRequest.mark`. `StampedRequest` replaces the mark by the number
  /// of the request, so that each request states other UUIDs.
  private static func uuid(_ number: Int) -> String {
    String(format: "%08lx-0000-4000-8000-", number) + StampedRequest.mark
  }

  static func list(_ numbers: Range<Int>, _ text: (Int) -> String) -> String {
    numbers.map(text).joined(separator: ",")
  }
}

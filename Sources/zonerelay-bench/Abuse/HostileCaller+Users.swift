import NIOCore

/// Callers with the valid token of one user.
extension HostileCaller {
  static let hostileUser = "_mallory"

  static let users: [HostileCaller] = [
    HostileCaller("largest subscriptions") { turn in
      turn.call(subscriptions(from: turn.number))
    },
    HostileCaller("read marks of unknown notifications", threads: 2) { turn in
      let ids = (0..<200).map { #""\#(uuid(turn.number &* 1_000 + $0))""# }
      turn.call(
        device("notifications/markRead", #"{"notificationIDs":[\#(ids.joined(separator: ","))]}"#))
    },
    HostileCaller("devices without end") { turn in
      turn.call(device("tokens/create", #"{"apnsEnvironment":"development"}"#))
      let token = "dead" + uuid(turn.number).filter { $0 != "-" }
      turn.call(
        device(
          "tokens/register",
          #"{"apnsEnvironment":"development","apnsToken":"\#(token)ab"}"#))
    },
    HostileCaller("pages with broken tokens", threads: 2) { turn in
      let zones = (0..<200).map {
        #"{"zoneID":{"zoneName":"Z\#($0)"},"syncToken":"broken\#(turn.number)"}"#
      }
      turn.call(database("changes/zone", #"{"zones":[\#(zones.joined(separator: ","))]}"#))
    },
    HostileCaller("pages that are not read") { turn in
      guard let connection = turn.connection() else { return }
      let request = device("notifications/changes", "{}")
      for _ in 0..<2_000 where !turn.isOver() {
        guard connection.send(request) else { return }
      }
    },
    HostileCaller("slow bodies") { turn in
      let head = """
        POST /device/1/\(Daemon.scope)/notifications/changes HTTP/1.1\r\nhost: relay\r\n\
        authorization: Bearer \(Daemon.userToken(hostileUser))\r\ncontent-length: 4194304\r\n\r\n{
        """
      turn.drip(head, connections: 100)
    },
    HostileCaller("deep JSON") { turn in
      let depth = String(repeating: "[", count: 2_000_000)
      turn.call(device("notifications/changes", #"{"syncToken":\#(depth)"#))
    },
  ]

  private static func subscriptions(from number: Int) -> [UInt8] {
    let filter =
      #"{"comparator":"IN","fieldName":"title","fieldValue":{"type":"STRING_LIST","value":["#
      + (0..<128).map { #""\#($0)\#(String(repeating: "x", count: 20))""# }
      .joined(separator: ",") + "]}}"
    let operations = (0..<40).map { index in
      #"{"operationType":"create","subscription":{"subscriptionID":"s\#(number)-\#(index)","#
        + #""subscriptionType":"query","query":{"recordType":"Article","filterBy":["#
        + Array(repeating: filter, count: 10).joined(separator: ",")
        + #"]},"notificationInfo":{"shouldSendContentAvailable":true}}}"#
    }
    return Array(
      buffer: RequestText.post(
        "/database/1/\(Daemon.scope)/public/subscriptions/modify",
        token: Daemon.userToken(hostileUser),
        body: #"{"operations":[\#(operations.joined(separator: ","))]}"#.utf8))
  }

  private static func device(_ door: String, _ body: String) -> [UInt8] {
    Array(
      buffer: RequestText.post(
        "/device/1/\(Daemon.scope)/\(door)", token: Daemon.userToken(hostileUser), body: body.utf8))
  }

  private static func database(_ door: String, _ body: String) -> [UInt8] {
    Array(
      buffer: RequestText.post(
        "/database/1/\(Daemon.scope)/private/\(door)", token: Daemon.userToken(hostileUser),
        body: body.utf8))
  }

  private static func uuid(_ number: Int) -> String {
    let digits = String(UInt64(bitPattern: Int64(number)), radix: 16)
    let tail = String(repeating: "0", count: max(0, 12 - digits.count)) + digits.suffix(12)
    return "00000000-0000-4000-8000-\(tail)"
  }
}

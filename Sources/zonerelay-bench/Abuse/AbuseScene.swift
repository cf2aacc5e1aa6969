import NIOCore

/// The data that exist before the measurement: the well-behaved users with a device and a
/// subscription each; 300 subscribers of the public database, whom a hostile producer's changes
/// reach; the hostile user's own zones, large enough for the largest pages; and one zone shared
/// with as many users as a zone may have.
struct AbuseScene {
  static let hostileZones = 200
  static let sharedZone = "Wide"
  private static let subscribers = 300
  private static let eventsEach = 1_000

  private var recordsEach: Int { bench.options.amount(200) }
  private var participants: Int { bench.options.amount(10_000) }

  private let bench: Workbench
  private let daemon: MeasuredDaemon

  init(_ bench: Workbench, daemon: MeasuredDaemon) {
    self.bench = bench
    self.daemon = daemon
  }

  func prepare() async throws {
    for number in 0..<GoodUser.count {
      let token = MeasuredDaemon.userToken(GoodUser.name(number))
      let digits = String(100_000_000_000 + number)
      try await ask(
        "/device/1/\(MeasuredDaemon.scope)/tokens/register", token,
        #"{"apnsEnvironment":"development","apnsToken":"\#(digits)\#(digits)","#
          + #""clientId":"6f1c2a34-0000-4000-8000-\#(digits)"}"#)
      try await subscribe(token, "private", #""subscriptionType":"database""#)
    }
    for number in 0..<Self.subscribers {
      let filter = #""filterBy":[{"comparator":"NOT_EQUALS","fieldName":"title","#
      try await subscribe(
        MeasuredDaemon.userToken("_reader\(number)"), "public",
        #""subscriptionType":"query","query":{"recordType":"Article",\#(filter)"#
          + #""fieldValue":{"value":"nothing","type":"STRING"}}]}"#)
    }
    let hostile = HostileCaller.hostileUser
    try await subscribe(
      MeasuredDaemon.userToken(hostile), "private",
      #""subscriptionType":"query","query":{"recordType":"Article"}"#)
    try await fill("record", Self.hostileZones * recordsEach) { index in
      let zone = "Z\(index % Self.hostileZones)"
      return #""type":"zonerelay.record.updated","data":{\#(place(zone)),"#
        + #""record":{"recordName":"r\#(index / Self.hostileZones)","recordType":"Article"}}"#
    }
    try await fill("grant", participants) { index in
      #""type":"zonerelay.share.granted","data":{\#(place(Self.sharedZone)),"#
        + #""participant":"_w\#(index)"}"#
    }
  }

  private func place(_ zone: String) -> String {
    #""database":"private","zoneID":{"zoneName":"\#(zone)","#
      + #""ownerRecordName":"\#(HostileCaller.hostileUser)"}"#
  }

  /// Posts events of the hostile user's zones with the honest producer's key.
  private func fill(
    _ name: String, _ count: Int, _ event: (Int) -> String
  ) async throws {
    for first in stride(from: 0, to: count, by: Self.eventsEach) {
      let events = HostileCaller.list(first..<min(first + Self.eventsEach, count)) { index in
        #"{"specversion":"1.0","id":"\#(name)-\#(index)","source":"/scene",\#(event(index))}"#
      }
      try await post(
        "/events/1/\(MeasuredDaemon.scope)", MeasuredDaemon.producerKey, "[\(events)]",
        type: "application/cloudevents-batch+json")
    }
  }

  private func subscribe(_ token: String, _ database: String, _ what: String) async throws {
    try await ask(
      "/database/1/\(MeasuredDaemon.scope)/\(database)/subscriptions/modify", token,
      #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"all",\#(what),"#
        + #""notificationInfo":{"shouldSendContentAvailable":true}}}]}"#)
  }

  private func ask(_ path: String, _ token: String, _ body: String) async throws {
    try await post(path, token, body, type: "application/json")
  }

  private func post(
    _ path: String, _ token: String, _ body: String, type: String
  ) async throws {
    let answer = try await LoadExchange.call(
      RequestText.post(path, token: token, type: type, body: body.utf8), to: .port(daemon.port),
      group: bench.group)
    let isWhole = !answer.text.contains("serverErrorCode") && !answer.text.contains(#""code""#)
    guard (200...202).contains(answer.status), isWhole else {
      throw BenchError("\(path) was answered with \(answer.status): \(answer.text.prefix(500))")
    }
  }
}

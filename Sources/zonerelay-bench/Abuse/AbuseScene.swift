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

  let bench: Workbench
  let daemon: MeasuredDaemon

  func prepare() async throws {
    try await Enrolment.run(0..<GoodUser.count, on: daemon) { number in
      let token = MeasuredDaemon.userToken(GoodUser.name(number))
      return [
        Enrolment.device(number, token: token),
        Enrolment.subscription(to: "private", token: token),
      ]
    }
    let filter =
      #","filterBy":[{"comparator":"NOT_EQUALS","fieldName":"title","#
      + #""fieldValue":{"value":"nothing","type":"STRING"}}]"#
    try await Enrolment.run(0..<Self.subscribers, on: daemon) { number in
      let token = MeasuredDaemon.userToken("_reader\(number)")
      return [Enrolment.subscription(toPublic: "Article", filter: filter, token: token)]
    }
    let hostile = MeasuredDaemon.userToken(HostileCaller.hostileUser)
    try await Enrolment.run(0..<1, on: daemon) { _ in
      [
        Enrolment.subscription(
          "all", in: "private", #""subscriptionType":"query","query":{"recordType":"Article"}"#,
          token: hostile)
      ]
    }
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
      try await daemon.call(RequestText.events("[\(events)]".utf8)).expectAccepted(
        min(Self.eventsEach, count - first))
    }
  }
}

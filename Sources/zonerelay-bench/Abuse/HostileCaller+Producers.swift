import NIOCore

/// Callers with the valid key of one producer of the environment.
extension HostileCaller {
  static let producerKey = "a-second-producer-key-of-thirty-two-characters"

  static let producers: [HostileCaller] = [
    HostileCaller("records of very many fields", threads: 2, sending: recordOfManyFields),
    HostileCaller("records with a very long list", threads: 2, sending: recordWithLongList),
    HostileCaller("public records of the largest size", threads: 4, sending: largestRecords),
    HostileCaller(
      "public records without end", threads: 4,
      sending: events(1_000) { record($0, in: publicDatabase) }),
    HostileCaller(
      "zones without end", threads: 2,
      sending: events(1_000) { record($0, in: zone("N\($0)-\(StampedRequest.mark)")) }),
    HostileCaller(
      "one record again and again", threads: 2,
      sending: events(1_000) { _ in record(0, in: zone("Same")) }),
    HostileCaller(
      "zones made and ended", threads: 2,
      sending: events(1_000) { index in
        let type = index.isMultiple(of: 2) ? "zone.created" : "zone.deleted"
        return (type, #"{\#(zone("Ended\(index / 2)"))}"#)
      }),
    HostileCaller(
      "grants without end", threads: 2,
      sending: events(1_000) {
        ("share.granted", #"{\#(zone("Shared-\(StampedRequest.mark)")),"participant":"_p\#($0)"}"#)
      }),
    // Each change notifies as many users as a zone may have: ``AbuseScene`` has shared the zone.
    HostileCaller(
      "changes of a zone shared with very many", threads: 2,
      sending: events(1_000) { record($0, in: zone(AbuseScene.sharedZone)) }),
    HostileCaller("numbers with holes", threads: 2) { turn in
      turn.call(numbersWithHoles(turn.number))
    },
    HostileCaller(
      "values that compare slowly", threads: 2,
      sending: events(1) { _ in
        record(0, in: zone("Slow"), #","fields":{"f":{"value":"\#(slowText(900_000))"}}"#)
      }),
    HostileCaller(
      "keywords that compare slowly", threads: 2,
      sending: events(1) { _ in ("record.updated", #"{"database":"\#(slowText(900_000))"}"#) }),
    HostileCaller(
      "events that are none", threads: 2,
      sending: events(1_000) { ("record.updated", #"{"database":"none\#($0)"}"#) }),
    HostileCaller("slow events") { turn in
      turn.drip(
        """
        POST /events/1/\(MeasuredDaemon.scope) HTTP/1.1\r\nhost: relay\r\n\
        authorization: Bearer \(producerKey)\r\ncontent-length: 4194304\r\n\
        content-type: application/cloudevents-batch+json\r\n\r\n[
        """, connections: 300)
    },
  ]

  private static let publicDatabase = #""database":"public""#

  private static func zone(_ name: String) -> String {
    #""database":"private","zoneID":{"zoneName":"\#(name)","ownerRecordName":"\#(hostileUser)"}"#
  }

  private static let recordOfManyFields: StampedRequest = {
    let fields = list(0..<40_000) { #""f\#($0)":{"value":"\#($0 % 10)"}"# }
    return events(4) { record($0, in: publicDatabase, #","fields":{\#(fields)}"#) }
  }()

  private static let recordWithLongList: StampedRequest = {
    let values = list(0..<99_000) { #""\#($0)""# }
    let field = #","fields":{"title":{"type":"STRING_LIST","value":[\#(values)]}}"#
    return events(4) { record($0, in: publicDatabase, field) }
  }()

  private static let largestRecords: StampedRequest = {
    let text = String(repeating: "x", count: 1_040_000)
    let field = #","fields":{"title":{"value":"\#(text)"}}"#
    return events(4) { record($0, in: publicDatabase, field) }
  }()

  private static func numbersWithHoles(_ number: Int) -> [UInt8] {
    events(1_000) { index in
      let (type, data) = record(index, in: zone("Holes\(number % 100)"))
      return (type, data.dropLast() + #","sequence":\#((number * 1_000 + index) * 2)}"#)
    }.bytes(number)
  }

  /// - Parameter fields: further members, beginning with a comma.
  private static func record(
    _ index: Int, in place: String, _ fields: String = ""
  ) -> (type: String, data: String) {
    (
      "record.updated",
      #"{\#(place),"record":{"recordName":"r\#(index)","recordType":"Article"\#(fields)}}"#
    )
  }

  private static func events(
    _ count: Int, _ event: (Int) -> (type: String, data: String)
  ) -> StampedRequest {
    let all = list(0..<count) { index in
      let (type, data) = event(index)
      return #"{"specversion":"1.0","id":"\#(StampedRequest.mark)-\#(index)","#
        + #""source":"/mallory","type":"zonerelay.\#(type)","data":\#(data)}"#
    }
    return StampedRequest(RequestText.events("[\(all)]".utf8, key: producerKey))
  }
}

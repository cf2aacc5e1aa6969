import NIOCore

/// Callers with the valid key of one producer of the environment.
extension HostileCaller {
  static let producerKey = "a-second-producer-key-of-thirty-two-characters"

  static let producers: [HostileCaller] = [
    HostileCaller("a record of very many fields") { turn in
      let fields = (0..<20_000).map { #""f\#($0)":{"value":"\#($0)"}"# }.joined(separator: ",")
      turn.call(events([event(turn, 0, "\"fields\":{\(fields)}")]))
    },
    HostileCaller("a record with a very long list") { turn in
      let values = (0..<100_000).map { "\"\($0)\"" }.joined(separator: ",")
      let list = #""fields":{"title":{"type":"STRING_LIST","value":[\#(values)]}}"#
      turn.call(events([event(turn, 0, list)]))
    },
    HostileCaller("public records of the largest size") { turn in
      let text = String(repeating: "x", count: 900_000)
      let field = #""fields":{"title":{"value":"\#(text)"}}"#
      turn.call(events((0..<4).map { event(turn, $0, field, isPublic: true) }))
    },
    HostileCaller("public records without end") { turn in
      turn.call(events((0..<1_000).map { event(turn, $0, nil, isPublic: true) }))
    },
    HostileCaller("zones without end") { turn in
      turn.call(events((0..<1_000).map { event(turn, $0, nil, zone: "Z\(turn.number)-\($0)") }))
    },
    HostileCaller("grants without end") { turn in
      let grants = (0..<1_000).map { index in
        #"{"specversion":"1.0","id":"g\#(turn.thread)-\#(turn.number)-\#(index)","#
          + #""source":"/mallory","type":"zonerelay.share.granted","data":{"#
          + #""database":"private","zoneID":{"zoneName":"Shared","ownerRecordName":"#
          + #""\#(hostileUser)"},"participant":"_p\#(turn.number)-\#(index)"}}"#
      }
      turn.call(events(grants))
    },
    HostileCaller("slow events") { turn in
      turn.drip(
        """
        POST /events/1/\(Daemon.scope) HTTP/1.1\r\nhost: relay\r\n\
        authorization: Bearer \(producerKey)\r\ncontent-length: 4194304\r\n\
        content-type: application/cloudevents-batch+json\r\n\r\n[
        """, connections: 100)
    },
  ]

  private static func event(
    _ turn: HostileTurn, _ index: Int, _ fields: String?, isPublic: Bool = false,
    zone: String = "Large"
  ) -> String {
    let place =
      isPublic
      ? #""database":"public""#
      : #""database":"private","zoneID":{"zoneName":"\#(zone)","#
        + #""ownerRecordName":"\#(hostileUser)"}"#
    return #"{"specversion":"1.0","id":"\#(turn.name)-\#(turn.thread)-\#(turn.number)-\#(index)","#
      + #""source":"/mallory","type":"zonerelay.record.updated","data":{\#(place),"#
      + #""record":{"recordName":"r\#(turn.number % 50)-\#(index)","recordType":"Article""#
      + (fields.map { ",\($0)" } ?? "") + "}}}"
  }

  private static func events(_ events: [String]) -> [UInt8] {
    Array(
      buffer: RequestText.post(
        "/events/1/\(Daemon.scope)", token: producerKey,
        type: "application/cloudevents-batch+json", body: "[\(events.joined(separator: ","))]".utf8
      ))
  }
}

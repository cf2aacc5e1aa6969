import RelayCore
import RelayHTTP
import RelayWire
import Testing

/// The zones of a user and the records of a zone are bounded. An event beyond a bound is rejected,
/// and the other events of its request are accepted.
@Suite struct RoomTests {
  private func rig() async -> Rig {
    var limits = Limits()
    limits.recordsPerZone = 3
    limits.zonesPerUser = 2
    return await Rig(core: limits)
  }

  private func event(
    _ verb: String, _ record: String?, zone: String = "ReadingList", owner: String = "_abc",
    _ more: String = ""
  ) -> String {
    let id = "\(verb)-\(zone)-\(record ?? "")-\(owner)-\(more.count)-\(RoomTests.next())"
    return Event(
      id: id, type: "zonerelay.\(verb)", zone: zone, owner: owner, record: record, more: more
    )
    .text
  }

  private func report(_ rig: Rig, _ events: [String]) async throws -> (Int64, [String?]) {
    let answer = try await rig.produce("[\(events.joined(separator: ","))]")
    let accepted = try answer.json.required("accepted").integer()
    let reasons = try answer.each("rejected", "reason")
    #expect(try answer.each("rejected", "code") == reasons.map { _ in "THROTTLED" })
    #expect(answer.status == (accepted == 0 ? 400 : 202))
    return (accepted, reasons)
  }

  private static let full = "a zone has at most 3 records; delete one first"
  private static let tooMany = "a user's database has at most 2 zones; delete one first"

  /// Limit: limits.recordsPerZone
  @Test func `a zone holds at most the configured number of records`() async throws {
    let rig = await rig()
    let created = "record.created"
    #expect(try await report(rig, [event(created, "A"), event(created, "B")]) == (2, []))
    #expect(try await report(rig, [event(created, "C")]) == (1, []), "the limit itself")
    #expect(try await report(rig, [event(created, "D")]) == (0, [Self.full]))
    #expect(
      try await report(rig, [event("record.updated", "B"), event("record.updated", "E")])
        == (1, [Self.full]), "what is there can be changed")
    #expect(
      try await report(
        rig, [event(created, "D"), event("record.deleted", "A"), event(created, "E")])
        == (2, [Self.full]), "a record that goes makes room for what follows")
    #expect(try await report(rig, [event("zone.deleted", nil)]) == (1, []))
    let anew = ["F", "G", "H", "I"].map { event(created, $0) }
    #expect(try await report(rig, anew) == (3, [Self.full]), "in one request too")
  }

  /// The first answer was lost. Meanwhile the record was deleted, and other records took its room.
  @Test func `a repeated request is answered as duplicate even if the zone is full`() async throws {
    let rig = await rig()
    let first = "[\(event("record.created", "A")),\(event("record.deleted", "A"))]"
    #expect(try await rig.produce(first).text == #"{"accepted":2,"duplicates":0,"rejected":[]}"#)
    let others = ["B", "C", "D"].map { event("record.created", $0) }
    #expect(try await report(rig, others) == (3, []))
    #expect(try await report(rig, [event("record.created", "A")]) == (0, [Self.full]))
    let again = try await rig.produce(first)
    #expect(again.status == 202)
    #expect(again.text == #"{"accepted":0,"duplicates":2,"rejected":[]}"#)
  }

  @Test func `a zone reset or deletion makes room for later events of its request`() async throws {
    let rig = await rig()
    let first = ["A", "B", "C"].map { event("record.created", $0) }
    #expect(try await report(rig, first) == (3, []))
    let anew = ["D", "E", "F", "G"].map { event("record.created", $0) }
    #expect(try await report(rig, [event("zone.reset", nil)] + anew) == (4, [Self.full]))
    #expect(try await report(rig, [event("zone.created", nil, zone: "Two")]) == (1, []))
    let instead = [
      event("zone.deleted", nil, zone: "Two"), event("zone.created", nil, zone: "Three"),
      event("zone.created", nil, zone: "Four"),
    ]
    #expect(try await report(rig, instead) == (2, [Self.tooMany]))
  }

  /// Limit: limits.zonesPerUser
  @Test func `a user has at most the configured number of zones`() async throws {
    let rig = await rig()
    #expect(try await report(rig, [event("zone.created", nil, zone: "One")]) == (1, []))
    #expect(try await report(rig, [event("record.created", "A", zone: "Two")]) == (1, []))
    for more in [
      event("zone.created", nil, zone: "Three"), event("record.created", "A", zone: "Three"),
      event("share.granted", nil, zone: "Three", #","participant":"_def""#),
    ] {
      #expect(try await report(rig, [more]) == (0, [Self.tooMany]))
    }
    #expect(try await report(rig, [event("zone.deleted", nil, zone: "One")]) == (1, []))
    #expect(try await report(rig, [event("zone.created", nil, zone: "Three")]) == (1, []))
    #expect(
      try await report(rig, [event("record.created", "A", zone: "_defaultZone")]) == (1, []),
      "the default zone is everywhere")
  }

  @Test func `a user participates in at most the configured number of zones`() async throws {
    let rig = await rig()
    for (index, owner) in ["_u1", "_u2", "_u3"].enumerated() {
      let grant = event("share.granted", nil, owner: owner, #","participant":"_def""#)
      #expect(try await report(rig, [grant]) == (index < 2 ? (1, []) : (0, [Self.tooMany])))
    }
    let revoke = event("share.revoked", nil, owner: "_u1", #","participant":"_def""#)
    #expect(try await report(rig, [revoke]) == (1, []))
    let again = event("share.granted", nil, owner: "_u3", #","participant":"_def""#)
    #expect(try await report(rig, [again]) == (1, []))
  }

  private static func next() -> String { Identifier.random().text }
}

extension Identifier {
  fileprivate static func random() -> Identifier {
    Identifier(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
  }
}

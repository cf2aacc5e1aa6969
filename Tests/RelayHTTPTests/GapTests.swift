import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Testing

/// The producer's numbers over HTTP: late changes, and the gap on a zone's pages.
@Suite struct GapTests {
  private static let zone = #"{"zoneName":"ReadingList","ownerRecordName":"_abc"}"#

  /// A relay for which missing numbers are overdue at the next tick.
  private func rig() async -> Rig {
    var core = Limits()
    core.gapAfter = .zero
    return await Rig(core: core)
  }

  private func event(_ number: Int, _ record: String = "A1", source: String = "api-1") -> String {
    Event(
      id: "n\(number)", type: "zonerelay.record.updated", record: record,
      more: #","sequence":\#(number)"#
    ).text.replacing("/records/api-1", with: "/records/\(source)")
  }

  private func gaps(_ rig: Rig, as user: String = "_abc") async throws -> [Bool?] {
    let database = user == "_abc" ? "private" : "shared"
    let zone = try await rig.database(
      "changes/zone", #"{"zones":[{"zoneID":\#(Self.zone)}]}"#, in: database, as: user)
    let records = try await rig.database(
      "records/changes", #"{"zoneID":\#(Self.zone)}"#, in: database, as: user)
    return [
      try zone.json.required("zones").elements()[0]["gap"]?.boolean(),
      try records.json["gap"]?.boolean(),
    ]
  }

  @Test func `a zone's pages show a gap to all readers until the gap is closed`()
    async throws
  {
    let rig = await rig()
    let share = Event(
      id: "s", type: "zonerelay.share.granted", record: nil, more: #","participant":"_def""#)
    let answer = try await rig.produce("[\(event(1)),\(share.text),\(event(3, "A3"))]")
    #expect(answer.text == #"{"accepted":3,"duplicates":0,"rejected":[]}"#)
    #expect(try await gaps(rig) == [nil, nil])
    _ = try await rig.relay.submit([.tick])
    #expect(try await gaps(rig) == [true, true])
    #expect(try await gaps(rig, as: "_def") == [true, true])
    let late = try await rig.produce("[\(event(2, "A3")),\(event(2, "A3"))]")
    #expect(late.text == #"{"accepted":1,"duplicates":1,"rejected":[]}"#)
    #expect(try await gaps(rig) == [nil, nil])
    #expect(try await gaps(rig, as: "_def") == [nil, nil])
  }

  @Test func `a reset ends a gap`() async throws {
    let rig = await rig()
    _ = try await rig.produce("[\(event(1)),\(event(3))]")
    _ = try await rig.relay.submit([.tick])
    #expect(try await gaps(rig) == [true, true])
    let reset = Event(id: "r", type: "zonerelay.zone.reset", record: nil).text
    _ = try await rig.produce("[\(reset),\(event(9, "A9"))]")
    _ = try await rig.relay.submit([.tick])
    #expect(try await gaps(rig) == [nil, nil])
  }

  @Test func `each source has its own number space`() async throws {
    let rig = await rig()
    _ = try await rig.produce("[\(event(1)),\(event(7, source: "api-2"))]")
    _ = try await rig.relay.submit([.tick])
    #expect(try await gaps(rig) == [nil, nil])
    let origins = rig.relay.seen.facts.compactMap { fact in
      if case .change(let change) = fact { change.origin } else { nil }
    }
    #expect(Set(origins).count == 2)
    try await rig.create(["B1"])
    guard case .change(let plain) = rig.relay.seen.facts.last else {
      Issue.record("the last fact is no change")
      return
    }
    #expect(plain.sequence == nil && plain.origin == 0)
  }
}

import RelayCore
import RelayHTTP
import RelayWire
import Testing

/// `modified` on a zone's pages: the time of the change, and the device that made it, which the
/// relay shows only to the device's own user.
@Suite struct ModifiedTests {
  private static let accepted: Int64 = 1_795_230_000_000

  private func report(
    _ rig: Rig, _ id: String, by user: String?, client: String? = nil, members: String = "",
    kind: String = "record.updated"
  ) async throws {
    let client = client.map { #","clientId":"\#($0)""# } ?? ""
    let author = user.map { #","changedBy":{"userRecordName":"\#($0)"\#(client)}"# } ?? ""
    try await rig.report(
      id, kind, record: nil,
      more: #","record":{"recordName":"A1","recordType":"Article"\#(members)}"# + author)
  }

  private func modified(
    _ rig: Rig, in database: String = "private", as user: String
  ) async throws -> JSONCursor {
    try await rig.page(in: database, as: user).required("records").elements()[0]
      .required("modified")
  }

  private func device(_ rig: Rig, in database: String, as user: String) async throws -> String? {
    try await modified(rig, in: database, as: user).optional("deviceID")?.string()
  }

  /// One zone, its owner and two participants. The owner and one participant change the zone's
  /// record in turn.
  @Test func `a change's device is shown only to the user who made the change`() async throws {
    let rig = await Rig()
    try await report(rig, "1", by: "_abc", client: Rig.phone, kind: "record.created")
    try await rig.share("2", "granted", with: "_def")
    try await rig.share("3", "granted", with: "_ghi")
    #expect(try await device(rig, in: "private", as: "_abc") == Rig.phone)
    #expect(try await device(rig, in: "shared", as: "_def") == nil)
    try await report(rig, "4", by: "_def", client: Rig.tablet)
    #expect(try await device(rig, in: "shared", as: "_def") == Rig.tablet)
    #expect(try await device(rig, in: "shared", as: "_ghi") == nil)
    #expect(try await device(rig, in: "private", as: "_abc") == nil)
    // A change without a device shows no device to any user.
    try await report(rig, "5", by: "_def")
    for (database, user) in [("private", "_abc"), ("shared", "_def"), ("shared", "_ghi")] {
      #expect(try await device(rig, in: database, as: user) == nil)
    }
    try await report(rig, "6", by: "_abc", client: Rig.phone)
    #expect(try await device(rig, in: "private", as: "_abc") == Rig.phone)
    #expect(try await device(rig, in: "shared", as: "_def") == nil)
  }

  @Test func `a modified time is the producer's, or else the time of acceptance`() async throws {
    let rig = await Rig()
    try await report(
      rig, "1", by: nil,
      members: #","created":{"timestamp":1000},"modified":{"timestamp":2000}"#,
      kind: "record.created")
    #expect(try await modified(rig, as: "_abc").required("timestamp").integer() == 2_000)
    try await report(rig, "2", by: nil, members: #","created":{"timestamp":1000}"#)
    #expect(try await modified(rig, as: "_abc").required("timestamp").integer() == Self.accepted)
    try await report(
      rig, "3", by: nil, members: #","modified":{"userRecordName":"_abc"}"#)
    #expect(try await modified(rig, as: "_abc").required("timestamp").integer() == Self.accepted)
  }

  /// An event's `time` says when the event was made. An import makes an event today for an old
  /// record.
  @Test func `an event's time is not used as its record's modified time`() async throws {
    let rig = await Rig()
    let event = Event().text.replacing("2026-11-21T03:00:00Z", with: "2020-01-01T00:00:00Z")
    #expect(try await rig.produce("[\(event)]").status == 202)
    #expect(try await modified(rig, as: "_abc").required("timestamp").integer() == Self.accepted)
  }
}

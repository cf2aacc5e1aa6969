import RelayWire
import Testing

/// A device is one installation under one user. A change by another user is not the device's own
/// change, even if the change names the same installation. Such a change comes from a phone that
/// another user has used before, or from a participant who knows the owner's installation.
@Suite struct OwnChangeTests {
  private static func by(_ user: String) -> String {
    #","changedBy":{"userRecordName":"\#(user)","clientId":"\#(Rig.phone)"}"#
  }

  @Test(arguments: [(author: "_abc", isOwn: true), ("_def", false)])
  func `only changes of a device's user are marked as the device's own`(author: String, isOwn: Bool)
    async throws
  {
    let rig = await Rig()
    try await rig.subscribe(#""subscriptionID":"d","subscriptionType":"database""#)
    try await rig.report("1", "record.created", more: Self.by(author))
    let zones = try await rig.database(
      "changes/zone", "{\"zones\":[{\(Rig.zone())}]}", client: Rig.phone)
    let zone = try zones.json.required("zones").elements()[0]
    let record = try zone.required("records").elements()[0]
    #expect(try record.required("own").boolean() == isOwn)
    let device = try record.required("modified").optional("deviceID")?.string()
    #expect(device?.lowercased() == (isOwn ? Rig.phone : nil))
    let listed = try await rig.database("changes/database", client: Rig.phone)
    let item = try listed.json.required("zones").elements()[0]
    #expect(try item.required("own").boolean() == isOwn)
    let notified = try await rig.device("notifications/changes", client: Rig.phone)
    let notification = try notified.json.required("notifications").elements()[0]
    #expect(try notification.required("own").boolean() == isOwn)
  }

  /// All readers of a zone share its feed, and each reader's own changes are marked there.
  @Test func `each reader sees own marks and device ids only on its own changes`()
    async throws
  {
    let rig = await Rig()
    try await rig.report("1", "record.created", more: Self.by("_abc"))
    try await rig.share("2", "granted", with: "_def")
    try await rig.report("3", "record.created", record: "A2", more: Self.by("_def"))
    for (user, database, own) in [("_abc", "private", "A1"), ("_def", "shared", "A2")] {
      let answer = try await rig.database(
        "changes/zone", "{\"zones\":[{\(Rig.zone())}]}", in: database, as: user, client: Rig.phone)
      for record in try answer.json.required("zones").elements()[0].required("records").elements() {
        let isOwn = try record.required("recordName").string() == own
        #expect(try record.required("own").boolean() == isOwn)
        let device = try record.required("modified").optional("deviceID")?.string()
        #expect(device?.lowercased() == (isOwn ? Rig.phone : nil))
      }
    }
  }

  /// Like all texts, types are compared by their bytes, so two spellings of one text are two types.
  @Test func `desired record types are compared byte by byte`() async throws {
    let rig = await Rig()
    try await rig.create(["A1"])
    let page = try await rig.page("ReadingList", #","desiredRecordTypes":["Art\u0069cle"]"#)
    #expect(try page.each("records", "recordName") == ["A1"])
    let other = try await rig.page("ReadingList", #","desiredRecordTypes":["Article\u0301"]"#)
    #expect(try other.required("records").elements().isEmpty)
  }
}

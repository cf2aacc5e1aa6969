import RelayHTTP
import RelayWire
import Testing

/// One test for each of CloudKit's rules for subscriptions. Comparators and notification info have
/// tests of their own.
@Suite struct ReferenceSubscriptionTests {
  private static let sync = "AppDefaultZone does not support sync semantics"
  private static let query = #""subscriptionType":"query","query":{"recordType":"Article"}"#
  private static let zone = #""subscriptionType":"zone",\#(Rig.zone())"#
  private static let database = #""subscriptionType":"database""#

  /// A subscription to save in `database`, and a text of the expected refusal; `nil` means that the
  /// relay accepts the subscription.
  struct Cell: CustomTestStringConvertible, Sendable {
    var row: String
    var database: String
    var members: String
    var refusal: String?
    var testDescription: String { "\(row), \(database): \(members)" }
  }

  static let cells: [Cell] = [
    Cell(row: "public database", database: "public", members: query),
    Cell(
      row: "public database", database: "public", members: zone, refusal: sync),
    Cell(
      row: "public database", database: "public", members: database,
      refusal: "not supported in the public database"),
    Cell(row: "private database", database: "private", members: query),
    Cell(row: "private database", database: "private", members: zone),
    Cell(row: "private database", database: "private", members: database),
    Cell(
      row: "shared database", database: "shared", members: query,
      refusal: "not supported in the shared database"),
    Cell(
      row: "shared database", database: "shared", members: zone,
      refusal: "not supported in the shared database"),
    Cell(row: "shared database", database: "shared", members: database),
    Cell(
      row: "default zone", database: "private", members: query + "," + Rig.zone("_defaultZone")),
    Cell(
      row: "default zone", database: "private",
      members: #""subscriptionType":"zone",\#(Rig.zone("_defaultZone"))"#, refusal: sync),
    Cell(
      row: "desiredKeys, at most 3", database: "private",
      members: query + #","notificationInfo":{"additionalFields":["a","b","c"]}"#),
    Cell(
      row: "desiredKeys, at most 3", database: "private",
      members: query + #","notificationInfo":{"additionalFields":["a","b","c","d"]}"#,
      refusal: "names more than 3 fields"),
    Cell(
      row: "desiredKeys, at most 3", database: "private",
      members: zone + #","notificationInfo":{"additionalFields":["a"]}"#,
      refusal: "cannot add additionalFields to this subscription type"),
    Cell(
      row: "desiredKeys, at most 3", database: "shared",
      members: database + #","notificationInfo":{"additionalFields":["a"]}"#,
      refusal: "cannot add additionalFields to this subscription type"),
    Cell(
      row: "collapse id key", database: "public",
      members: query + #","notificationInfo":{"collapseIDKey":"a"}"#),
    Cell(
      row: "collapse id key", database: "private",
      members: zone + #","notificationInfo":{"collapseIDKey":"a"}"#,
      refusal: "cannot add collapseId to this subscription type"),
    Cell(
      row: "collapse id key", database: "private",
      members: database + #","notificationInfo":{"collapseIDKey":"a"}"#,
      refusal: "cannot add collapseId to this subscription type"),
    Cell(
      row: "record type filter", database: "private", members: #""subscriptionType":"query""#,
      refusal: "query is missing"),
    Cell(
      row: "record type filter", database: "private", members: zone + #","recordType":"Article""#),
    Cell(
      row: "record type filter", database: "shared",
      members: database + #","recordType":"Article""#),
  ]

  @Test(arguments: cells)
  func `each subscription type accepts only its own options and databases`(cell: Cell) async throws
  {
    let rig = await Rig()
    let item = try await rig.subscribe(
      #""subscriptionID":"s",\#(cell.members)"#, in: cell.database)
    #expect(try item.required("subscriptionID").string() == "s")
    let code = try item.optional("serverErrorCode")?.string()
    #expect(code == (cell.refusal == nil ? nil : "BAD_REQUEST"))
    if let refusal = cell.refusal {
      #expect(try item.required("reason").string().contains(refusal))
    }
    let listed = try await rig.database("subscriptions/list", in: cell.database)
    #expect(
      try listed.each("subscriptions", "subscriptionID") == (cell.refusal == nil ? ["s"] : []))
  }

  @Test func `changes in the default zone do not fire database subscriptions`() async throws {
    let rig = await Rig()
    try await rig.subscribe(#""subscriptionID":"d",\#(Self.database)"#)
    try await rig.subscribe(#""subscriptionID":"q",\#(Self.query)"#)
    try await rig.report("1", "record.created", zone: "_defaultZone")
    #expect(try await rig.fired() == ["q"])
  }

  @Test func `a record type filter limits notifications but not the zone's feed`()
    async throws
  {
    let rig = await Rig()
    try await rig.subscribe(#""subscriptionID":"z",\#(Self.zone),"recordType":"Other""#)
    try await rig.subscribe(#""subscriptionID":"d",\#(Self.database),"recordType":"Article""#)
    try await rig.report("1", "record.created")
    #expect(try await rig.fired() == ["d"])
    #expect(try await rig.page().each("records", "recordName") == ["A1"])
  }

  @Test(arguments: [
    (nil, ["record.created", "record.updated", "record.deleted"], 3),
    (#"["create"]"#, ["record.created", "record.updated", "record.deleted"], 1),
    (#"["update"]"#, ["record.created", "record.updated", "record.deleted"], 1),
    (#"["delete"]"#, ["record.created", "record.updated", "record.deleted"], 1),
    (#"["update","delete"]"#, ["record.created"], 0),
  ])
  func `a query subscription fires for all changes unless firesOn limits it`(
    firesOn: String?, kinds: [String], count: Int
  ) async throws {
    let rig = await Rig()
    let firing = firesOn.map { #","firesOn":\#($0)"# } ?? ""
    try await rig.subscribe(#""subscriptionID":"q",\#(Self.query)\#(firing)"#)
    // Each kind uses another record, because the feed keeps one entry for each record.
    for kind in kinds {
      if kind != "record.created" {
        try await rig.report("c-\(kind)", "record.created", record: "of-\(kind)")
      }
    }
    let before = try await rig.device("notifications/changes").string("syncToken") ?? ""
    for kind in kinds { try await rig.report(kind, kind, record: "of-\(kind)") }
    let after = try await rig.device("notifications/changes", #"{"syncToken":"\#(before)"}"#)
    #expect(try after.each("notifications", "subscriptionID").count == count)
  }

  @Test func `the same subscription saved again under its id succeeds`() async throws {
    let rig = await Rig()
    for members in [Self.query, Self.zone, Self.database] {
      let first = try await rig.subscribe(#""subscriptionID":"s",\#(members)"#)
      let again = try await rig.subscribe(#""subscriptionID":"s",\#(members)"#)
      #expect(first["serverErrorCode"] == nil && again["serverErrorCode"] == nil)
    }
    let listed = try await rig.database("subscriptions/list")
    #expect(try listed.each("subscriptions", "subscriptionType") == ["database"])
  }

  @Test func `the same query and options under another id is a duplicate`() async throws {
    let rig = await Rig()
    try await rig.subscribe(#""subscriptionID":"a",\#(Self.query)"#)
    let twin = try await rig.subscribe(#""subscriptionID":"b",\#(Self.query)"#)
    #expect(try twin.required("serverErrorCode").string() == "BAD_REQUEST")
    #expect(try twin.required("reason").string() == "subscription is duplicate of 'a'")
    let other = try await rig.subscribe(
      #""subscriptionID":"b",\#(Self.query),"firesOn":["create"]"#)
    #expect(other["serverErrorCode"] == nil)
    let publicly = try await rig.subscribe(#""subscriptionID":"b",\#(Self.query)"#, in: "public")
    #expect(publicly["serverErrorCode"] == nil)
  }

  @Test func `subscriptions belong to the user who saved them, not to a device`() async throws {
    let rig = await Rig()
    let saved = #"{"subscriptionID":"d",\#(Self.database)}"#
    let body = #"{"operations":[{"operationType":"create","subscription":\#(saved)}]}"#
    _ = try await rig.database("subscriptions/modify", body, client: Rig.phone)
    let tablet = try await rig.database("subscriptions/list", client: Rig.tablet)
    #expect(try tablet.each("subscriptions", "subscriptionID") == ["d"])
    let other = try await rig.database("subscriptions/list", as: "_def")
    #expect(try other.each("subscriptions", "subscriptionID").isEmpty)
  }
}

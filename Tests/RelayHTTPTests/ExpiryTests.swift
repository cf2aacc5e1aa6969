import HTTPTypes
import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Testing

@Suite struct ExpiryTests {
  private static let zone = #"{"zoneID":{"zoneName":"Z0"}"#

  /// Creates zones Z0, Z1 … with one record each, reads their tokens, and then expires every token.
  private func expired(zones: Int, limits: HTTPLimits = HTTPLimits()) async throws -> (Rig, Tokens)
  {
    let rig = await Rig(limits: limits)
    for index in 0..<zones { try await rig.create(["A"], zone: "Z\(index)") }
    let tokens = try await Tokens(rig)
    let answer = try await rig.send(.post, "/expire-tokens", "{}", control: true)
    #expect(answer.text == "{}")
    return (rig, tokens)
  }

  private struct Tokens {
    var database: String
    var zone: String
    var notifications: String

    init(_ rig: Rig) async throws {
      database = try await rig.database("changes/database").string("syncToken") ?? ""
      let page = try await rig.database("changes/zone", #"{"zones":[\#(ExpiryTests.zone)}]}"#)
      zone = try page.json.required("zones").elements()[0].required("syncToken").string()
      notifications = try await rig.device("notifications/changes").string("syncToken") ?? ""
    }
  }

  private static var pagesOfTwo: HTTPLimits {
    var limits = HTTPLimits()
    limits.pageEntries = 2
    return limits
  }

  private static func zoneNames(_ answer: Rig.Answer) throws -> [String] {
    try answer.json.required("zones").elements().map {
      try $0.required("zoneID").required("zoneName").string()
    }
  }

  /// The first of several pages of a database's digest.
  private struct Digest {
    var cursor: String
    var sync: String

    init(_ rig: Rig, _ tokens: Tokens) async throws {
      let page = try await rig.database(
        "changes/database", #"{"syncToken":"\#(tokens.database)"}"#)
      cursor = try #require(try page.string("digestToken"))
      sync = try #require(try page.string("syncToken"))
    }
  }

  @Test func `an expired zone token fails one item, and a read without it succeeds`() async throws {
    let (rig, tokens) = try await expired(zones: 2)
    let body =
      #"{"zones":[\#(Self.zone),"syncToken":"\#(tokens.zone)"},{"zoneID":{"zoneName":"Z1"}}]}"#
    let answer = try await rig.database("changes/zone", body)
    #expect(answer.status == 200)
    #expect(try answer.each("zones", "serverErrorCode") == ["CHANGE_TOKEN_EXPIRED", nil])
    let old = try await rig.database(
      "records/changes", #"\#(Self.zone),"syncToken":"\#(tokens.zone)"}"#)
    #expect(old.status == 410)
    #expect(try old.string("serverErrorCode") == "CHANGE_TOKEN_EXPIRED")
    let again = try await rig.database("changes/zone", #"{"zones":[\#(Self.zone)}]}"#)
    #expect(
      try again.json.required("zones").elements()[0].required("records").elements().count == 1)
  }

  @Test func `an expired database token is answered with a digest in pages`() async throws {
    let (rig, tokens) = try await expired(zones: 5, limits: Self.pagesOfTwo)
    var body = #"{"syncToken":"\#(tokens.database)"}"#
    var names: [String] = []
    var sync: Set<String> = []
    for page in 0..<3 {
      let answer = try await rig.database("changes/database", body)
      #expect(answer.status == 410)
      #expect(try answer.string("serverErrorCode") == "CHANGE_TOKEN_EXPIRED")
      sync.insert(try answer.string("syncToken") ?? "")
      names += try Self.zoneNames(answer)
      #expect(try answer.json.required("moreComing").boolean() == (page < 2))
      guard let digest = try answer.string("digestToken") else { break }
      body = #"{"digestToken":"\#(digest)"}"#
      let other = try await rig.database("changes/database", body, as: "_def")
      #expect(other.status == 400)
      #expect(try other.string("reason") == "Unknown sync continuation type")
    }
    #expect(names == (0..<5).map { "Z\($0)" })
    #expect(sync.count == 1)
    let on = try await rig.database("changes/database", #"{"syncToken":"\#(sync.first ?? "")"}"#)
    #expect(on.status == 200)
    #expect(try on.json.required("zones").elements().isEmpty)
  }

  @Test func `foreign and garbled digest cursors are refused with different reasons`()
    async throws
  {
    let (rig, tokens) = try await expired(zones: 5, limits: Self.pagesOfTwo)
    let first = try await Digest(rig, tokens)
    let (digest, sync) = (first.cursor, first.sync)
    let last = digest.last == "A" ? "B" : "A"
    let foreign = "Unknown sync continuation type"
    let garbled = "Invalid continuation format"
    for (member, reason) in [
      (#""digestToken":"\#(digest.dropLast() + last)""#, foreign),
      (#""digestToken":"\#(sync)""#, foreign), (#""syncToken":"\#(digest)""#, foreign),
      (#""digestToken":"\#(tokens.zone)""#, foreign), (#""syncToken":"\#(tokens.zone)""#, foreign),
      (#""digestToken":"\#(digest.dropLast(9))""#, garbled), (#""digestToken":"?""#, garbled),
      (#""digestToken":"AAAA""#, garbled), (#""syncToken":"\#(sync.dropLast(9))""#, garbled),
    ] {
      let answer = try await rig.database("changes/database", "{\(member)}")
      #expect(answer.status == 400)
      #expect(try answer.string("reason") == reason, "\(member)")
    }
    let shared = try await rig.database(
      "changes/database", #"{"digestToken":"\#(digest)"}"#, in: "shared")
    #expect(try shared.string("reason") == foreign)
  }

  /// The relay cannot verify a cursor without the key that signed the cursor, so the digest begins
  /// anew.
  @Test func `a digest cursor of a removed key restarts the digest`() async throws {
    let (rig, tokens) = try await expired(zones: 5, limits: Self.pagesOfTwo)
    let digest = try await Digest(rig, tokens).cursor
    let later = await Rig(
      limits: Self.pagesOfTwo, keys: TestKeys(signing: 8, known: [8]), relay: rig.relay)
    let answer = try await later.database(
      "changes/database", #"{"digestToken":"\#(digest)"}"#)
    #expect(answer.status == 410)
    #expect(try Self.zoneNames(answer) == ["Z0", "Z1"])
  }

  @Test func `a digest's zone token equals the token of a caught-up reader`() async throws {
    let (rig, tokens) = try await expired(zones: 1)
    _ = try await rig.produce("[\(Event(id: "n", zone: "Z0", record: "B").text)]")
    let fresh = try await rig.database("changes/zone", #"{"zones":[\#(Self.zone)}]}"#)
    let digest = try await rig.database("changes/database", #"{"syncToken":"\#(tokens.database)"}"#)
    #expect(
      try digest.json.required("zones").elements()[0].required("syncToken").string()
        == fresh.json.required("zones").elements()[0].required("syncToken").string())
  }

  @Test func `an expired notification token is answered without zones`() async throws {
    let (rig, tokens) = try await expired(zones: 1)
    let body = #"{"syncToken":"\#(tokens.notifications)"}"#
    // The token of a feed without any entries expires like any other.
    #expect(try await rig.device("notifications/changes", body).status == 410)
    let subscription =
      #"{"operations":[{"operationType":"create","subscription":{"subscriptionType":"database"}}]}"#
    _ = try await rig.database("subscriptions/modify", subscription)
    _ = try await rig.produce("[\(Event(id: "n", zone: "Z0", record: "B").text)]")
    let token = try await rig.device("notifications/changes").string("syncToken") ?? ""
    _ = try await rig.send(.post, "/expire-tokens", control: true)
    let answer = try await rig.device("notifications/changes", #"{"syncToken":"\#(token)"}"#)
    #expect(answer.status == 410)
    #expect(answer.json["zones"] == nil)
    let next = try #require(try answer.string("syncToken"))
    #expect(
      try await rig.device("notifications/changes", #"{"syncToken":"\#(next)"}"#).status == 200)
  }

  @Test func `a token of an unknown era is reported as lost history once per request`()
    async throws
  {
    let rig = await Rig()
    try await rig.create(["A"], zone: "Z0")
    let tokens = try await Tokens(rig)
    rig.relay.restoreFromCopy()
    let item = #"\#(Self.zone),"syncToken":"\#(tokens.zone)"}"#
    let answer = try await rig.database("changes/zone", #"{"zones":[\#(item)]}"#)
    #expect(try answer.each("zones", "serverErrorCode") == ["CHANGE_TOKEN_EXPIRED"])
    let lost = rig.relay.seen.facts.filter { if case .lostHistory = $0 { true } else { false } }
    let zone = ZoneID(name: "Z0", owner: UserID("_abc"))
    let feed = FeedKey(scope: Rig.scope, kind: .zone(zone))
    #expect(lost == [.lostHistory(feed, since: Position(Ordinal(1)))])
    let database = try await rig.database(
      "changes/database", #"{"syncToken":"\#(tokens.database)"}"#)
    #expect(database.status == 410)
    #expect(try database.json.required("zones").elements().count == 1)
    #expect(rig.relay.seen.readings.isEmpty)
  }

  /// A token of a lost era expires only tokens from before the restore. If it expired all tokens,
  /// each token of a lost era that arrives later would expire the new tokens as well.
  @Test func `a token of a lost era does not expire newer tokens`() async throws {
    let rig = await Rig()
    try await rig.create(["A"], zone: "Z0")
    let tokens = try await Tokens(rig)
    rig.relay.restoreFromCopy()
    func ask(_ token: String) async throws -> [String?] {
      let item = #"\#(Self.zone),"syncToken":"\#(token)"}"#
      return try await rig.database("changes/zone", #"{"zones":[\#(item)]}"#)
        .each("zones", "serverErrorCode")
    }
    #expect(try await ask(tokens.zone) == ["CHANGE_TOKEN_EXPIRED"])
    let anew = try await Tokens(rig)
    #expect(try await ask(tokens.zone) == ["CHANGE_TOKEN_EXPIRED"])
    #expect(try await ask(anew.zone) == [nil])
    _ = try await rig.send(.post, "/expire-tokens", control: true)
    #expect(try await ask(anew.zone) == ["CHANGE_TOKEN_EXPIRED"])
  }

  /// The reader's token caused the fact, so the fact counts like the reader's other writes.
  @Test func `a report of lost history counts as a write of its reader`() async throws {
    var limits = HTTPLimits()
    limits.writesPerMinute = 1
    let rig = await Rig(limits: limits)
    try await rig.create(["A"], zone: "Z0")
    let tokens = try await Tokens(rig)
    rig.relay.restoreFromCopy()
    for _ in 0..<3 {
      let database = try await rig.database(
        "changes/database", #"{"syncToken":"\#(tokens.database)"}"#)
      #expect(database.status == 410)
    }
    let lost = zip(rig.relay.seen.facts, rig.relay.seen.submitters)
      .filter { if case .lostHistory = $0.0 { true } else { false } }
    #expect(lost.count == 1)
    #expect(lost.allSatisfy { $0.1 != .relay })
  }

  @Test func `a token sealed with a removed key is answered as expired`() async throws {
    let rig = await Rig()
    try await rig.create(["A"], zone: "Z0")
    let tokens = try await Tokens(rig)
    let later = await Rig(keys: TestKeys(signing: 8, known: [8]), relay: rig.relay)
    let answer = try await later.database(
      "changes/database", #"{"syncToken":"\#(tokens.database)"}"#)
    #expect(answer.status == 410)
    let both = await Rig(keys: TestKeys(signing: 8, known: [7, 8]), relay: rig.relay)
    #expect(
      try await both.database("changes/database", #"{"syncToken":"\#(tokens.database)"}"#).status
        == 200)
  }
}

import HTTPTypes
import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Testing

/// One test for each row of the contract's error table.
@Suite struct ErrorTableTests {
  static let base = "/device/1/\(Rig.container)/development"
  static let data = "/database/1/\(Rig.container)/development/private"

  private func expect(
    _ answer: Rig.Answer, _ status: Int, _ code: String, _ reason: String? = nil,
    at place: SourceLocation = #_sourceLocation
  ) throws {
    #expect(answer.status == status, sourceLocation: place)
    #expect(try answer.string("serverErrorCode") == code, sourceLocation: place)
    let text = try answer.string("reason") ?? ""
    #expect(!text.isEmpty && text.contains(reason ?? ""), "\(text)", sourceLocation: place)
    #expect(try answer.string("uuid")?.count == 36, sourceLocation: place)
    #expect(answer.headers[.cacheControl] == "no-store", sourceLocation: place)
    #expect(answer.headers[.contentType] == "application/json", sourceLocation: place)
  }

  @Test func `a request without a user token is refused with 421`() async throws {
    let rig = await Rig()
    for path in ["\(Self.base)/tokens/list", "\(Self.data)/zones/list"] {
      try expect(try await rig.send(.post, path, "{}"), 421, "AUTHENTICATION_REQUIRED")
      try expect(try await rig.send(.get, path), 421, "AUTHENTICATION_REQUIRED")
    }
  }

  @Test func `a bad, expired or foreign user token is refused with 401`() async throws {
    let rig = await Rig()
    let bad = [
      "garbage", "a.b.c",
      try await Rig.token(for: "_abc", expires: 1_795_229_900),
      try await Rig.token(for: "_abc", audience: ["iCloud.com.other"]),
      try await Rig.token(for: "_abc", audience: []),
      try await Rig.token(for: "_abc", secret: Array(repeating: 7, count: 32)),
      try await Rig.token(for: ""),
      try await Rig.token(for: "_a\u{1}c"),
      // One token has the algorithm "none", and the other an algorithm that the relay does not
      // support.
      "eyJhbGciOiJub25lIn0.eyJzdWIiOiJfYWJjIn0.",
      "eyJhbGciOiJIUzUxMiJ9.eyJzdWIiOiJfYWJjIn0.AAAA",
    ]
    for token in bad {
      let answer = try await rig.send(.post, "\(Self.base)/tokens/list", "{}", bearer: token)
      try expect(answer, 401, "AUTHENTICATION_FAILED")
    }
    let basic = try await rig.send(
      .post, "\(Self.base)/tokens/list", "{}", headers: [.authorization: "Basic YTpi"])
    try expect(basic, 401, "AUTHENTICATION_FAILED", "Bearer TOKEN")
    let good = try await Rig.token(for: "_abc")
    for (value, status) in [
      ("bearer   \(good)", 200), ("Bearer \(good)", 200), ("Bearer   ", 401),
      ("Bearer a \(good)", 401),
    ] {
      let answer = try await rig.send(
        .post, "\(Self.base)/tokens/list", "{}", headers: [.authorization: value])
      #expect(answer.status == status, "\(value)")
    }
  }

  @Test func `a user token may come in three ways and must name the issuer`()
    async throws
  {
    let users = ScopeAccess.Users(.sharedSecret(Rig.secret), issuer: "https://accounts.example.com")
    let rig = await Rig(access: ScopeAccess(users: users))
    let token = try await Rig.token(
      for: "_abc", audience: ["x", Rig.container], issuer: "https://accounts.example.com")
    let path = "\(Self.base)/tokens/list"
    #expect(try await rig.send(.post, path, bearer: token).status == 200)
    #expect(
      try await rig.send(
        .post, path, headers: [HTTPField.Name("X-Apple-CloudKit-Web-Auth-Token")!: token]
      ).status == 200)
    #expect(try await rig.send(.get, "\(path)?a=b&ckWebAuthToken=\(token)").status == 200)
    // A value that is no percent-encoded text is a bad token, not a missing one.
    let broken = try await rig.send(.get, "\(path)?ckWebAuthToken=%ff")
    try expect(broken, 401, "AUTHENTICATION_FAILED")
    let other = try await rig.send(.post, path, bearer: try await Rig.token(for: "_abc"))
    try expect(other, 401, "AUTHENTICATION_FAILED", "issuer")
  }

  @Test func `an expired token is accepted for one more minute, cached or not`() async throws {
    var clock = TestClock()
    let token = try await Rig.token(for: "_abc", expires: 1_795_230_000)
    for (seconds, status) in [(-10, 200), (59, 200), (60, 401)] as [(Int64, Int)] {
      clock.now = Instant(milliseconds: 1_795_230_000_000) + .seconds(seconds)
      let rig = await Rig(clock: clock)
      let path = "\(Self.base)/tokens/list"
      #expect(try await rig.send(.post, path, bearer: token).status == status)
      #expect(try await rig.send(.post, path, bearer: token).status == status)
    }
  }

  @Test func `another user's zone or database is not found`() async throws {
    let rig = await Rig()
    try await rig.create(["A1"])
    let zone = #"{"zoneName":"ReadingList","ownerRecordName":"_abc"}"#
    for (database, user) in [("private", "_def"), ("shared", "_def"), ("shared", "_abc")] {
      let item = try await rig.database(
        "changes/zone", #"{"zones":[{"zoneID":\#(zone)}]}"#, in: database, as: user)
      #expect(item.status == 200)
      #expect(try item.each("zones", "serverErrorCode") == ["ZONE_NOT_FOUND"])
      let whole = try await rig.database(
        "records/changes", #"{"zoneID":\#(zone)}"#, in: database, as: user)
      try expect(whole, 404, "ZONE_NOT_FOUND")
      let looked = try await rig.database(
        "zones/lookup", #"{"zones":[\#(zone)]}"#, in: database, as: user)
      #expect(try looked.each("zones", "serverErrorCode") == ["ZONE_NOT_FOUND"])
    }
  }

  @Test(arguments: [
    "/device/1/iCloud.com.other/development/tokens/list",
    "/device/1/\(Rig.container)/production/tokens/list",
    "/device/1/\(Rig.container)/staging/tokens/list",
    "/device/1/\(Rig.container)/development/tokens/destroy",
    "/device/2/\(Rig.container)/development/tokens/list",
    "/database/1/\(Rig.container)/development/tokens/register",
    "/database/1/\(Rig.container)/development/private/tokens/register",
    "/database/1/\(Rig.container)/development/secret/zones/list",
    "/database/1/\(Rig.container)/development/private/records/modify",
    "/events/1/iCloud.com.other/development", "/events/1/\(Rig.container)",
    "/", "", "/health", "/health/live/", "/status", "/metrics", "/%zz", "/health%2Flive",
  ])
  func `an unknown container, environment, database or path is not found`(path: String) async throws
  {
    let rig = await Rig()
    let token = try await Rig.token(for: "_abc")
    try expect(try await rig.send(.post, path, "{}", bearer: token), 404, "NOT_FOUND")
  }

  @Test func `a wrong method is refused with the allowed methods`() async throws {
    let rig = await Rig()
    let token = try await Rig.token(for: "_abc")
    for (method, path, allow) in [
      (.get, "\(Self.base)/tokens/register", "POST"),
      (.delete, "\(Self.base)/tokens/list", "GET, POST"),
      (.post, "/health/live", "GET, HEAD"), (.put, "\(Self.data)/changes/zone", "POST"),
      (.get, "/events/1/\(Rig.container)/development", "POST"),
    ] as [(HTTPRequest.Method, String, String)] {
      let answer = try await rig.send(method, path, bearer: token)
      try expect(answer, 405, "BAD_REQUEST")
      #expect(answer.headers[.allow] == allow)
    }
  }

  @Test(arguments: ["application/json", "text/plain", "application/ndjson", ""])
  func `another content type for events is refused with 415`(type: String) async throws {
    try expect(
      try await Rig().produce(Event().text, type: type), 415, "BAD_REQUEST", "Content-Type")
  }

  @Test func `a missing or unknown ckAPIToken is refused with 401`() async throws {
    let access = ScopeAccess(
      users: ScopeAccess.Users(.sharedSecret(Rig.secret)), apiTokens: ["first+1", "second"])
    let rig = await Rig(access: access)
    let path = "\(Self.base)/tokens/list"
    let user = try await Rig.token(for: "_abc")
    for query in ["", "?ckAPIToken=", "?ckAPIToken=third"] {
      try expect(
        try await rig.send(.post, path + query, bearer: user), 401, "AUTHENTICATION_FAILED",
        "ckAPIToken")
    }
    for query in ["?ckAPIToken=first%2B1", "?x&ckAPIToken=second"] {
      #expect(try await rig.send(.post, path + query, bearer: user).status == 200)
    }
  }

  @Test(arguments: [nil, "", "wrong", Rig.producerKey + "x"])
  func `a producer without a valid key is refused with 401`(key: String?) async throws {
    try expect(
      try await Rig().produce(Event().text, bearer: key), 401, "AUTHENTICATION_FAILED")
  }

  @Test(arguments: [
    ("tokens/register", "{", "not valid JSON"), ("tokens/register", "[]", "must be a JSON object"),
    ("tokens/register", "{}", "apnsEnvironment is missing"),
    (
      "tokens/register", #"{"apnsEnvironment":1}"#, "apnsEnvironment must be a string, not a number"
    ),
    ("tokens/register", #"{"apnsEnvironment":"x","apnsToken":"ab"}"#, "apnsEnvironment must be"),
    ("tokens/register", #"{"apnsEnvironment":"production","apnsToken":""}"#, "apnsToken must be"),
    ("tokens/register", #"{"apnsEnvironment":"production","apnsToken":"ä"}"#, "apnsToken must be"),
    (
      "tokens/register", #"{"apnsEnvironment":"production","apnsToken":"ab","clientId":"x"}"#,
      "clientId must be a UUID"
    ),
    (
      "tokens/register", #"{"apnsEnvironment":"production","apnsToken":"ab","apnsTopic":"other"}"#,
      "configured here: com.example.notes"
    ),
    ("tokens/register", #"{"transport":"fcm","token":"x"}"#, "'fcm' is not configured"),
    ("tokens/unregister", "{}", "clientId or apnsToken is missing"),
    (
      "tokens/unregister", #"{"clientId":"\#(Rig.phone)","apnsToken":"ä"}"#, "apnsToken must be"
    ),
    ("wakes/acknowledge", #"{"w":1}"#, "clientId is missing"),
    ("wakes/acknowledge", #"{"clientId":"\#(Rig.phone)"}"#, "w is missing"),
    ("wakes/acknowledge", #"{"clientId":"\#(Rig.phone)","w":"1"}"#, "w must be a whole number"),
    ("notifications/changes", #"{"resultsLimit":0}"#, "resultsLimit must be at least 1"),
    ("notifications/changes", #"{"resultsLimit":-5}"#, "resultsLimit must be at least 1"),
    ("notifications/changes", #"{"resultsLimit":"5"}"#, "resultsLimit must be a whole number"),
    ("notifications/changes", #"{"syncToken":""}"#, "syncToken is empty"),
    ("notifications/changes", #"{"syncToken":7}"#, "syncToken must be a string"),
    ("notifications/changes", #"{"syncToken":"?"}"#, "Invalid continuation format"),
    ("notifications/changes", #"{"clientId":7}"#, "clientId must be a string"),
  ])
  func `a body that is not JSON or of wrong types names the key`(
    endpoint: String, body: String, reason: String
  ) async throws {
    try expect(try await Rig().device(endpoint, body), 400, "BAD_REQUEST", reason)
  }

  @Test(arguments: [
    ("changes/zone", "{}", "zones is missing"),
    ("changes/zone", #"{"zones":{}}"#, "zones must be an array"),
    ("subscriptions/modify", "{}", "operations is missing"),
    ("subscriptions/lookup", #"{"subscriptions":"a"}"#, "subscriptions must be an array"),
    ("zones/lookup", "{}", "zones is missing"), ("records/changes", "{}", "zoneID is missing"),
    ("changes/database", #"{"resultsLimit":0}"#, "resultsLimit must be"),
    ("changes/database", #"{"digestToken":"x"}"#, "Invalid continuation format"),
  ])
  func `the refusal of a bad database request names the wrong key`(
    endpoint: String, body: String, reason: String
  ) async throws {
    try expect(try await Rig().database(endpoint, body), 400, "BAD_REQUEST", reason)
  }

  @Test func `a fetch of changes of the public database or a default zone is refused`() async throws
  {
    let rig = await Rig()
    let text = "AppDefaultZone does not support sync semantics"
    let zone = #"{"zones":[{"zoneID":{"zoneName":"_defaultZone"}}]}"#
    for endpoint in ["changes/database", "zones/changes"] {
      try expect(try await rig.database(endpoint, in: "public"), 400, "BAD_REQUEST", text)
    }
    try expect(try await rig.database("changes/zone", zone, in: "public"), 400, "BAD_REQUEST", text)
    let item = try await rig.database("changes/zone", zone)
    #expect(item.status == 200)
    #expect(try item.each("zones", "serverErrorCode") == ["BAD_REQUEST"])
    #expect(try item.each("zones", "reason") == [text])
    let old = #"{"zoneID":{"zoneName":"_defaultZone"}}"#
    try expect(try await rig.database("records/changes", old), 400, "BAD_REQUEST", text)
  }

  @Test func `too many readers or a failed store are answered with 503 or 500`() async throws {
    let rig = await Rig()
    rig.relay.behave { $0.readRefusal = .readersFull }
    let full = try await rig.database("changes/database")
    try expect(full, 503, "TRY_AGAIN_LATER")
    #expect(full.headers[.retryAfter] == "1")
    rig.relay.behave {
      $0.readRefusal = nil
      $0.readFailure = StoreError(.unreadable, "disk")
    }
    try expect(try await rig.device("tokens/list"), 503, "TRY_AGAIN_LATER")
    rig.relay.behave { $0.readFailure = StoreError(.corrupt, "disk") }
    try expect(try await rig.database("subscriptions/list"), 500, "INTERNAL_ERROR")
    let zones = #"{"zones":[{"zoneID":{"zoneName":"Z"}}]}"#
    try expect(try await rig.database("changes/zone", zones), 500, "INTERNAL_ERROR")
  }

  @Test func `every error code has its HTTP status`() {
    #expect(
      ServerErrorCode.allCases.map(\.status.code) == [
        403, 401, 421, 400, 410, 500, 404, 413, 429, 503, 404,
      ])
  }
}

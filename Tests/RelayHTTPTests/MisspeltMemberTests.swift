import HTTPTypes
import RelayHTTP
import RelayWire
import Testing

/// Misspelt members are refused, because ignoring one would change what the request does.
@Suite struct MisspeltMemberTests {
  private static let device = "/device/1/\(Rig.container)/development"
  private static let database = "/database/1/\(Rig.container)/development/private"

  private func refuses(_ answer: Rig.Answer, _ reason: String) throws {
    #expect(answer.status == 400, "\(answer.text)")
    #expect(try answer.string("serverErrorCode") == "BAD_REQUEST")
    #expect(try answer.string("reason")?.contains(reason) == true, "\(answer.text)")
  }

  @Test(arguments: [
    ("clientId=phone", "clientId in the query must be a UUID"),
    ("clientId=", "clientId in the query must be a UUID"),
    ("clientId", "clientId in the query must be a UUID"),
    ("clientId=%zz", "clientId in the query must be a UUID"),
    ("a=b&clientID=\(Rig.phone)", "clientID in the query is unknown; write clientId"),
    ("client_id=\(Rig.phone)", "client_id in the query is unknown; write clientId"),
    ("client%49D=\(Rig.phone)", "clientID in the query is unknown; write clientId"),
  ])
  func `an invalid or misspelt clientId in the query is refused`(query: String, reason: String)
    async throws
  {
    let (rig, token) = (await Rig(), try await Rig.token(for: "_abc"))
    for path in [
      "\(Self.device)/notifications/changes", "\(Self.device)/tokens/list",
      "\(Self.database)/changes/database", "\(Self.database)/zones/list",
    ] {
      try refuses(try await rig.send(.post, "\(path)?\(query)", "{}", bearer: token), reason)
    }
  }

  @Test(arguments: [
    "continuationMarker=", "continuationMarker=%zz", "continuationMarker=zzz",
    "continuationmarker=AAAA", "resultsLimit=0", "resultsLimit=abc", "resultslimit=1",
  ])
  func `an invalid or misspelt page parameter of a list is refused`(query: String) async throws {
    let (rig, token) = (await Rig(), try await Rig.token(for: "_abc"))
    for list in ["zones/list", "subscriptions/list"] {
      let path = "\(Self.database)/\(list)?\(query)"
      try refuses(try await rig.send(.get, path, bearer: token), "")
    }
  }

  @Test(arguments: [
    (#""share":{"recordname":"x"},"participant":"_p""#, "share.granted"),
    (
      #""record":{"recordName":"A","recordType":"T","fields":{"n":{"value":5,"#
        + #""Type":"TIMESTAMP"}}}"#, "record.created"
    ),
    (
      #""record":{"recordName":"A","recordType":"T","fields":{"r":{"type":"REFERENCE","#
        + #""value":{"recordName":"B","zoneId":{"zoneName":"Z"}}}}}"#, "record.created"
    ),
  ])
  func `a misspelt member of a share, field or reference is refused`(data: String, type: String)
    async throws
  {
    let rig = await Rig()
    let answer = try await rig.produce(
      #"[{"specversion":"1.0","id":"1","source":"/r","type":"zonerelay.\#(type)","data":{"#
        + #""database":"private","zoneID":{"zoneName":"Z","ownerRecordName":"_abc"},\#(data)}}]"#)
    #expect(answer.status == 400 && answer.text.contains("is unknown; write"), "\(answer.text)")
  }

  @Test func `a clientId in the query may be in upper case or percent-encoded`() async throws {
    let (rig, token) = (await Rig(), try await Rig.token(for: "_abc"))
    for query in [
      "clientId=\(Rig.phone.uppercased())", "clientId=\(Rig.phone.replacing("-", with: "%2D"))",
      "ckjsVersion=2.6.4&=&x",
    ] {
      let path = "\(Self.device)/notifications/changes?\(query)"
      #expect(try await rig.send(.post, path, "{}", bearer: token).status == 200)
    }
  }

  @Test(arguments: [
    (#"{"clientId":"phone"}"#, "clientId must be a UUID"),
    (#"{"clientID":"\#(Rig.phone)"}"#, "clientID is unknown; write clientId"),
    (#"{"clientid":null}"#, "clientid is unknown; write clientId"),
    (#"{"synctoken":"x"}"#, "synctoken is unknown; write syncToken"),
    (#"{"sync_token":"x"}"#, "sync_token is unknown; write syncToken"),
    (#"{"resultslimit":5}"#, "resultslimit is unknown; write resultsLimit"),
    (#"{"metaSyncToken":"x"}"#, "metaSyncToken is zones/changes' name; write syncToken"),
  ])
  func `a misspelt or invalid member is refused`(body: String, reason: String) async throws {
    let rig = await Rig()
    try refuses(try await rig.device("notifications/changes", body), reason)
    try refuses(try await rig.database("changes/database", body), reason)
  }

  @Test func `a clientId in the query does not hide an invalid one in the body`()
    async throws
  {
    let answer = try await Rig().device(
      "notifications/changes", #"{"clientId":"phone"}"#, client: Rig.phone)
    try refuses(answer, "clientId must be a UUID")
  }

  /// If the relay ignored the token, the client would start from the beginning.
  @Test func `a token under another endpoint's name is refused`() async throws {
    let rig = await Rig()
    try await rig.create(["A1"])
    try refuses(
      try await rig.database("zones/changes", #"{"syncToken":"AQAA"}"#),
      "syncToken is not zones/changes' name; write metaSyncToken")
    #expect(try await rig.database("zones/changes", #"{"syncToken":null}"#).status == 200)
    for endpoint in ["zones/changes", "changes/database"] {
      try refuses(
        try await rig.database(endpoint, #"{"syncToken":"AQAA","metaSyncToken":"AQAB"}"#),
        "name; write"
      )
      let both = try await rig.database(endpoint, #"{"syncToken":"AQAA","metaSyncToken":"AQAA"}"#)
      #expect(try both.string("reason") == "Invalid continuation format")
    }
    let zone = #"{"zoneName":"ReadingList"}"#
    try refuses(
      try await rig.database(
        "changes/zone", #"{"zones":[{"zoneID":\#(zone)}],"syncToken":"AQAA"}"#),
      "syncToken belongs to its zone")
    try refuses(
      try await rig.database("records/changes", #"{"zoneID":\#(zone),"metaSyncToken":"AQAA"}"#),
      "metaSyncToken is zones/changes' name")
    let item = try await rig.database(
      "changes/zone", #"{"zones":[{"zoneID":\#(zone),"metaSyncToken":"AQAA"}]}"#)
    #expect(item.status == 200)
    #expect(try item.each("zones", "serverErrorCode") == ["BAD_REQUEST"])
  }

  @Test(arguments: [
    (#""zoneID":{"zoneName":"Z"},"SyncToken":"x""#, "zones[0].SyncToken is unknown"),
    (#""zoneID":{"zoneName":"Z","ownerrecordname":"_def"}"#, "ownerrecordname is unknown"),
  ])
  func `a misspelt member of a zone is reported in the zone's item`(members: String, reason: String)
    async throws
  {
    let answer = try await Rig().database("changes/zone", #"{"zones":[{\#(members)}]}"#)
    #expect(answer.status == 200)
    #expect(try answer.each("zones", "reason")[0]?.contains(reason) == true, "\(answer.text)")
  }

  /// If the relay ignored the member, the subscription would fire for more changes, or its
  /// notifications would look different.
  @Test(arguments: [
    (#""subscriptionType":"query","query":{"recordType":"T"},"zoneId":{"zoneName":"Z"}"#, "zoneId"),
    (#""subscriptionType":"query","query":{"recordType":"T"},"firesonce":true"#, "firesonce"),
    (#""subscriptionType":"query","query":{"recordType":"T","filterby":[]}"#, "filterby"),
    (
      #""subscriptionType":"database","notificationInfo":{"shouldsendcontentavailable":true}"#,
      "shouldsendcontentavailable"
    ),
  ])
  func `a misspelt member of a subscription is reported in its item`(members: String, name: String)
    async throws
  {
    let rig = await Rig()
    let item = try await rig.subscribe(#""subscriptionID":"s",\#(members)"#)
    #expect(try item.optional("serverErrorCode")?.string() == "BAD_REQUEST")
    #expect(try item.optional("reason")?.string().contains("\(name) is unknown") == true)
    #expect(try item.optional("subscriptionID")?.string() == "s")
  }

  @Test(arguments: [
    #","changedBy":{"userRecordName":"_abc","clientID":"\#(Rig.phone)"}"#,
    #","changedby":{"userRecordName":"_abc"}"#, #","Sequence":4"#,
  ])
  func `a misspelt member of an event's data rejects the event`(more: String) async throws {
    let answer = try await Rig().produce("[\(Event(more: more).text)]")
    #expect(answer.status == 400)
    let reason = try answer.json.required("rejected").elements()[0].required("reason").string()
    #expect(reason.hasPrefix("data.") && reason.contains(" is unknown; write "), "\(reason)")
  }

  @Test func `members with unknown names are ignored`() async throws {
    let rig = await Rig()
    let body = #"{"numbersAsStrings":true,"clientIdentifier":"x","zone":1,"_":2,"":3}"#
    #expect(try await rig.device("notifications/changes", body).status == 200)
  }
}

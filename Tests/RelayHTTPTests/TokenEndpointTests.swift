import HTTPTypes
import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Synchronization
import Testing

@Suite struct TokenEndpointTests {
  private let body =
    #"{"apnsEnvironment":"development","apnsToken":"00fF10","clientId":"\#(Rig.phone)"}"#

  @Test func `a device is registered, listed and unregistered`() async throws {
    let rig = await Rig()
    let answer = try await rig.device("tokens/register", body)
    #expect(answer.status == 200)
    #expect(try answer.string("clientId") == Rig.phone)
    #expect(
      try answer.string("webcourierURL")?.hasPrefix("https://relay.example.com/courier/1/") == true)
    let list = try await rig.device("tokens/list")
    #expect(
      list.text == #"{"devices":[{"clientId":"\#(Rig.phone)","transport":"apns","#
        + #""apnsTopic":"com.example.notes","apnsEnvironment":"development","state":"active","#
        + #""registeredAt":1795230000000}]}"#)
    #expect(try await rig.device("tokens/list", as: "_def").text == #"{"devices":[]}"#)
    let gone = try await rig.device("tokens/unregister", #"{"clientId":"\#(Rig.phone)"}"#)
    #expect(gone.status == 200)
    #expect(gone.text == "{}")
    #expect(try await rig.device("tokens/list").text == #"{"devices":[]}"#)
    #expect(try await rig.device("tokens/unregister", #"{"apnsToken":"abcd"}"#).text == "{}")
  }

  @Test(arguments: [#"{"clientId":"\#(Rig.phone)","apnsToken":"00"}"#, #"{"apnsToken":"00"}"#])
  func `an old token beside a client id keeps no device registered`(named: String) async throws {
    let rig = await Rig()
    _ = try await rig.device("tokens/register", body)
    let gone = try await rig.device("tokens/unregister", named, client: Rig.phone)
    #expect(gone.status == 200)
    #expect(try await rig.device("tokens/list").text == #"{"devices":[]}"#)
  }

  /// The devices of the doctor's user do not count in the ledger, so the relay must ask no provider
  /// to push to them.
  @Test func `the user of the doctor has the courier alone`() async throws {
    let rig = await Rig()
    let answer = try await rig.device(
      "tokens/register", body, as: "_zonerelay-doctor", client: Rig.phone)
    #expect(answer.status == 400)
    #expect(try answer.string("reason")?.contains("_zonerelay-doctor") == true, "\(answer.text)")
    let created = try await rig.device(
      "tokens/create", #"{"apnsEnvironment":"development"}"#, as: "_zonerelay-doctor",
      client: Rig.phone)
    #expect(created.status == 200)
    let token = try #require(try created.string("apnsToken"))
    let again = #"{"apnsEnvironment":"development","apnsToken":"\#(token)"}"#
    #expect(
      try await rig.device("tokens/register", again, as: "_zonerelay-doctor").status == 200)
  }

  @Test func `a push token is hexadecimal or base64, and the clientId is lower-cased`() async throws
  {
    let rig = await Rig()
    for (token, bytes) in [
      ("00fF10", [0, 255, 16]), ("AP8Q", [0, 255, 16]), ("_-8=", [255, 239]),
    ]
      as [(String, [UInt8])]
    {
      let text = #"{"apnsEnvironment":"production","apnsToken":"\#(token)"}"#
      let answer = try await rig.device("tokens/register", text, client: Rig.phone.uppercased())
      #expect(try answer.string("clientId") == Rig.phone)
      guard case .register(let registration) = rig.relay.seen.facts.last else {
        Issue.record("the last fact is no registration")
        return
      }
      #expect(
        registration.address
          == Address(
            transport: .apns, topic: "com.example.notes", token: bytes, environment: .production))
      let list = try await rig.device("tokens/list")
      #expect(list.text.contains(#""apnsEnvironment":"production""#), "as the app said")
    }
  }

  @Test(arguments: ["abc", "00ff0", String(repeating: "a", count: 63)])
  func `a token with an odd number of hexadecimal digits is refused`(token: String) async throws {
    let rig = await Rig()
    let text = #"{"apnsEnvironment":"production","apnsToken":"\#(token)"}"#
    #expect(try await rig.device("tokens/register", text).status == 400)
  }

  @Test func `a registration without clientId gets a stable clientId from its token`()
    async throws
  {
    let rig = await Rig()
    let text = #"{"apnsEnvironment":"development","apnsToken":"00ff"}"#
    let first = try await rig.device("tokens/register", text).string("clientId")
    let second = try await rig.device("tokens/register", text).string("clientId")
    #expect(first == second && first != nil)
    let other = text.replacing("00ff", with: "00fe")
    #expect(try await rig.device("tokens/register", other).string("clientId") != first)
  }

  /// The address of a courier-only device lapses and then makes room. If all devices have a
  /// provider's address, only the user can make room.
  @Test(arguments: [("create", "", 43_200), ("register", #","apnsToken":"00f%""#, 3_600)])
  func `a user at the device limit gets a Retry-After that fits its devices`(
    endpoint: String, token: String, seconds: Int64
  ) async throws {
    var core = Limits()
    core.devicesPerUser = 2
    let rig = await Rig(core: core)
    func add(_ number: Int) async throws -> Rig.Answer {
      let own = token.replacing("%", with: "\(number)")
      return try await rig.device("tokens/\(endpoint)", #"{"apnsEnvironment":"production"\#(own)}"#)
    }
    for number in 1...2 { #expect(try await add(number).status == 200) }
    let full = try await add(3)
    #expect(full.status == 429)
    #expect(try full.string("serverErrorCode") == "THROTTLED")
    #expect(try full.string("reason") == "a user has at most 2 devices; unregister one first")
    #expect(try full.json.required("retryAfter").integer() == seconds)
    #expect(full.headers[.retryAfter] == "\(seconds)")
    #expect(try await add(2).status == (endpoint == "create" ? 429 : 200), "a known one is renewed")
    #expect(try await rig.device("tokens/list").each("devices", "state") == ["active", "active"])
  }

  /// `limits.devicesPerUser` may be larger than what one answer lists.
  @Test func `a client reads all of very many devices page by page`() async throws {
    var limits = Rig.atOnce
    limits.devicesListed = 2
    let (rig, token) = (await Rig(limits: limits), try await Rig.token(for: "_abc"))
    for number in 1...5 {
      let text = #"{"apnsEnvironment":"development","apnsToken":"0\#(number)"}"#
      #expect(try await rig.device("tokens/register", text).status == 200)
    }
    var (listed, counts, marker): ([String?], [Int], String?) = ([], [], nil)
    repeat {
      let query = marker.map { "?continuationMarker=\($0)" } ?? ""
      let page = try await rig.send(.get, Rig.listPath + query, bearer: token)
      let clients = try page.each("devices", "clientId")
      listed += clients
      counts.append(clients.count)
      marker = try page.string("continuationMarker")
      let hasMore = try page.json.optional("moreComing")?.boolean() ?? false
      #expect(hasMore == (marker != nil))
    } while marker != nil && counts.count < 9
    #expect(counts == [2, 2, 1])
    #expect(Set(listed).count == 5)
    let first = try #require(listed[1])
    let body = #"{"continuationMarker":"\#(first)"}"#
    let second = try await rig.device("tokens/list", body).each("devices", "clientId")
    #expect(second == [listed[2], listed[3]])
    let wrong = try await rig.device("tokens/list", #"{"continuationMarker":"AAAA"}"#)
    #expect(wrong.status == 400)
    let reason = "continuationMarker must be one that tokens/list gave"
    #expect(try wrong.string("reason") == reason)
  }

  /// The device is looked for on every page of the user's devices.
  @Test func `a created token is found among very many devices`() async throws {
    var limits = Rig.atOnce
    limits.devicesListed = 2
    let rig = await Rig(limits: limits)
    let environment = #""apnsEnvironment":"development""#
    var made: [(token: String, client: String)] = []
    for _ in 1...5 {
      let answer = try await rig.device("tokens/create", "{\(environment)}")
      let token = try #require(try answer.string("apnsToken"))
      made.append((token, try #require(try answer.string("clientId"))))
    }
    for device in made {
      let answer = try await rig.device(
        "tokens/register", #"{\#(environment),"apnsToken":"\#(device.token)"}"#)
      #expect(try answer.string("clientId") == device.client)
    }
  }

  @Test func `a new token of the same device replaces the old token`() async throws {
    let rig = await Rig()
    _ = try await rig.device("tokens/register", body)
    let text = body.replacing("00fF10", with: "aa")
    #expect(try await rig.device("tokens/register", text).status == 200)
    #expect(try await rig.device("tokens/list").json.required("devices").elements().count == 1)
  }

  /// The test does what CloudKit's clients do: it creates a token, registers the token, and polls.
  @Test(arguments: [["com.example.notes"], []], ["", Rig.phone])
  func `a created token keeps the courier transport when it is registered`(
    topics: [String], name: String
  ) async throws {
    let users = ScopeAccess.Users(.sharedSecret(Rig.secret))
    let rig = await Rig(access: ScopeAccess(users: users, topics: topics))
    let environment = #""apnsEnvironment":"development""#
    let named = name.isEmpty ? "" : #","clientId":"\#(name)""#
    let created = try await rig.device("tokens/create", "{\(environment)\(named)}")
    let token = try #require(try created.string("apnsToken"))
    let client = try #require(try created.string("clientId"))
    let body = #"{\#(environment),"apnsToken":"\#(token.uppercased())"}"#
    let registered = try await rig.device("tokens/register", body)
    #expect(registered.status == 200, "\(registered.text)")
    #expect(try registered.string("clientId") == client)
    let url = try #require(try registered.string("webcourierURL"))
    let path = String(url.dropFirst("https://relay.example.com".count))
    #expect(try await rig.send(.get, path).status == 200)
    let list = try await rig.device("tokens/list")
    #expect(try list.each("devices", "transport") == ["courier"])
    #expect(try list.each("devices", "clientId") == [client])
    // A registration under another `clientId` moves the token to that device, as it would move any
    // token.
    let moved = body.replacing("}", with: #","clientId":"\#(Rig.tablet)"}"#)
    #expect(try await rig.device("tokens/register", moved).string("clientId") == Rig.tablet)
    let after = try await rig.device("tokens/list")
    #expect(Set(try after.each("devices", "clientId")) == [client, Rig.tablet])
    #expect(Set(try after.each("devices", "state")) == ["active", "retired"])
    #expect(Set(try after.each("devices", "transport")) == ["courier"])
    #expect(try await rig.device("tokens/register", body).string("clientId") == Rig.tablet)
  }

  @Test func `a token not created by the relay is an APNs token and costs no read`() async throws {
    let rig = await Rig()
    let reads = Mutex(0)
    rig.relay.behave { $0.onRead = { reads.withLock { $0 += 1 } } }
    let token = "00000007" + String(repeating: "ab", count: 28)
    let text = #"{"apnsEnvironment":"development","apnsToken":"\#(token)"}"#
    #expect(try await rig.device("tokens/register", text).status == 200)
    #expect(reads.withLock { $0 } == 0)
    #expect(try await rig.device("tokens/list").each("devices", "transport") == ["apns"])
  }

  @Test func `a device beyond the user's limit is answered 429`() async throws {
    var core = Limits()
    core.devicesPerUser = 1
    let rig = await Rig(core: core)
    #expect(try await rig.device("tokens/register", body).status == 200)
    let answer = try await rig.device(
      "tokens/register", body.replacing(Rig.phone, with: Rig.tablet))
    #expect(answer.status == 429)
    #expect(try answer.string("serverErrorCode") == "THROTTLED")
    #expect(answer.headers[.retryAfter] != nil)
  }

  @Test func `a registration must name its topic unless exactly one is configured`() async throws {
    let users = ScopeAccess.Users(.sharedSecret(Rig.secret))
    for topics in [[], ["a", "b"]] {
      let rig = await Rig(access: ScopeAccess(users: users, topics: topics))
      let answer = try await rig.device("tokens/register", body)
      #expect(answer.status == 400)
      #expect(try answer.string("reason")?.contains("apnsTopic is missing") == true)
    }
    let rig = await Rig(access: ScopeAccess(users: users, topics: ["a", "b"]))
    let text = body.replacing("}", with: #","apnsTopic":"b"}"#)
    #expect(try await rig.device("tokens/register", text).status == 200)
  }

  /// Fixed limit: push token
  @Test(arguments: [(bytes: 1_023, isRefused: false), (1_024, false), (1_025, true)])
  func `a push token has at most 1,024 bytes`(bytes: Int, isRefused: Bool) async throws {
    let text = body.replacing("00fF10", with: String(repeating: "ab", count: bytes))
    let answer = try await Rig().device("tokens/register", text)
    #expect(answer.status == (isRefused ? 400 : 200), "\(answer.text)")
    guard isRefused else { return }
    #expect(try answer.string("reason") == "apnsToken has more than 1024 bytes")
  }

  @Test func `a wake is acknowledged, and an invalid wake number is ignored`() async throws {
    let rig = await Rig()
    for number in ["17", "4294967296", "-1"] {
      let answer = try await rig.device(
        "wakes/acknowledge", #"{"clientId":"\#(Rig.phone)","w":\#(number)}"#)
      #expect(answer.text == "{}")
      #expect(answer.status == 200)
    }
    #expect(rig.relay.seen.wakes == [17])
    #expect(rig.relay.seen.acknowledging.map(\.client.text) == [Rig.phone])
  }

  @Test func `a courier's poll ends empty, and an invalid address is answered 410`() async throws {
    let rig = await Rig()
    let url = try #require(try await rig.device("tokens/register", body).string("webcourierURL"))
    let path = String(url.dropFirst("https://relay.example.com".count))
    let poll = try await rig.send(.get, path)
    #expect(poll.status == 200)
    #expect(poll.text.isEmpty)
    #expect(poll.headers[.cacheControl] == "no-store")
    let forged = String(path.dropLast()) + (path.hasSuffix("A") ? "B" : "A")
    #expect(try await rig.send(.get, forged).status == 410)
    #expect(try await rig.send(.get, "/courier/1/nonsense").status == 410)
    var clock = TestClock()
    clock.now = clock.now + .hours(12)
    let later = await Rig(clock: clock, relay: rig.relay)
    #expect(try await later.send(.get, path).status == 410)
    _ = try await rig.device("tokens/unregister", #"{"clientId":"\#(Rig.phone)"}"#)
    let gone = try await rig.send(.get, path)
    #expect(gone.status == 410)
    #expect(try gone.string("serverErrorCode") == "NOT_FOUND")
  }

  @Test func `the health endpoints report whether the relay serves requests`() async throws {
    let rig = await Rig()
    #expect(try await rig.send(.get, "/health/live").status == 200)
    #expect(try await rig.send(.get, "/health/ready").text == #"{"ready":true,"reasons":[]}"#)
    for readiness in [Readiness.recovering, .draining, .stopping] {
      rig.relay.behave { $0.readiness = readiness }
      let answer = try await rig.send(.get, "/health/ready")
      #expect(answer.status == 503)
      let reasons = try answer.json.required("reasons").elements().map { try $0.string() }
      #expect(reasons == readiness.reasons && reasons.count == 1)
      #expect(answer.headers[.retryAfter] == (readiness == .recovering ? "1" : "5"))
    }
    #expect(rig.relay.seen.counts == 0, "a probe counts nothing")
    #expect(try await rig.send(.get, "/health/live").status == 200)
  }
}

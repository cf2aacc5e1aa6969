import RelayCore
import RelayHTTP
import RelayWire
import Testing

@Suite struct AddressEndpointTests {
  private static let point =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
  private static let auth = "BTBZMqHH6r4Tts7J_aSIgg"
  private static let endpoint = "https://push.example.net/send/abc?x=1"

  private static func rig(
    fcm: String? = "notes-1", webPush: ScopeAccess.WebPush? = .init(allowsPrivateAddresses: false)
  ) async -> Rig {
    await Rig(
      access: ScopeAccess(
        users: ScopeAccess.Users(.sharedSecret(Rig.secret)), topics: ["com.example.notes"],
        firebaseProject: fcm, webPush: webPush))
  }

  private static func webPush(
    _ endpoint: String = endpoint, p256dh: String = point, auth: String = auth
  ) -> String {
    #"{"transport":"webpush","clientId":"\#(Rig.phone)","subscription":{"endpoint":"#
      + #""\#(endpoint)","expirationTime":null,"keys":{"p256dh":"\#(p256dh)","auth":"\#(auth)"}}}"#
  }

  private static func firebase(_ token: String) -> String {
    #"{"transport":"fcm","token":"\#(token)","clientId":"\#(Rig.phone)"}"#
  }

  @Test func `a browser registers and is listed`() async throws {
    let rig = await Self.rig()
    let answer = try await rig.device("tokens/register", Self.webPush())
    #expect(answer.status == 200)
    #expect(try answer.string("clientId") == Rig.phone)
    guard case .register(let registration) = rig.relay.seen.facts.last else {
      Issue.record("it was not registered")
      return
    }
    #expect(registration.address.transport == .webpush)
    #expect(registration.address.topic == "")
    let subscription = try #require(WebSubscription(token: registration.address.token))
    #expect(subscription.endpoint == Self.endpoint)
    #expect(Base64.urlText(subscription.publicKey) == Self.point)
    #expect(Base64.urlText(subscription.secret) == Self.auth)
    #expect(
      try await rig.device("tokens/list").text
        == #"{"devices":[{"clientId":"\#(Rig.phone)","transport":"webpush","state":"active","#
        + #""registeredAt":1795230000000}]}"#)
  }

  /// Fixed limit: push token of FCM, endpoint of Web Push
  @Test(arguments: [(bytes: 1_023, isRefused: false), (1_024, false), (1_025, true)])
  func `an address has at most 1,024 bytes`(bytes: Int, isRefused: Bool) async throws {
    let rig = await Self.rig()
    let start = "https://push.example.net/"
    let endpoint = start + String(repeating: "x", count: bytes - start.utf8.count)
    for (body, key) in [
      (Self.firebase(String(repeating: "t", count: bytes)), "token"),
      (Self.webPush(endpoint), "subscription.endpoint"),
    ] {
      let answer = try await rig.device("tokens/register", body)
      #expect(answer.status == (isRefused ? 400 : 200), "\(answer.text)")
      guard isRefused else { continue }
      #expect(try answer.string("reason") == "\(key) has more than 1024 bytes")
    }
  }

  @Test func `an Android device registers and is listed`() async throws {
    let rig = await Self.rig()
    let answer = try await rig.device("tokens/register", Self.firebase("abc:DEF_-1"))
    #expect(answer.status == 200)
    guard case .register(let registration) = rig.relay.seen.facts.last else {
      Issue.record("it was not registered")
      return
    }
    #expect(
      registration.address
        == Address(transport: .fcm, topic: "notes-1", token: Array("abc:DEF_-1".utf8)))
    #expect(try await rig.device("tokens/list").text.contains(#""transport":"fcm""#))
  }

  @Test func `a transport that is not configured is refused`() async throws {
    let rig = await Self.rig(fcm: nil, webPush: nil)
    for body in [Self.webPush(), Self.firebase("abc")] {
      let answer = try await rig.device("tokens/register", body)
      #expect(answer.status == 400)
      #expect(try answer.string("reason")?.hasSuffix("not configured in this environment") == true)
    }
  }

  @Test(arguments: [
    ("", "token must be printable"), ("a b", "token must be printable"),
    ("\u{e4}", "token must be printable"),
    (String(repeating: "a", count: 1_025), "token has more than 1024 bytes"),
  ])
  func `a token that cannot be one is refused`(token: String, reason: String) async throws {
    let answer = try await Self.rig().device("tokens/register", Self.firebase(token))
    #expect(answer.status == 400)
    #expect(try answer.string("reason")?.hasPrefix(reason) == true)
  }

  @Test(arguments: [
    ("push.example.net", "must be an absolute URL"), ("https://", "must be an absolute URL"),
    ("https://a b/", "must be an absolute URL"), ("https://u:p@h.example/", "must be an absolute"),
    ("https://h.example/#x", "must be an absolute URL"), ("http://h.example/", "must begin with"),
    ("ftp://h.example/", "must begin with https://"),
    ("https://h.example/" + String(repeating: "a", count: 1_024), "has more than 1024 bytes"),
    ("https://127.0.0.1/", "must not be at a private"), ("https://10.1.2.3/", "must not be at"),
    ("https://[::1]/", "must not be at"), ("https://[::ffff:192.168.0.1]/", "must not be at"),
    ("https://[fe80::1]/", "must not be at"), ("https://2130706433/", "must not be at"),
    ("https://0x7f.1/", "must not be at"), ("https://LocalHost/", "must not be at"),
    ("https://169.254.169.254/latest", "must not be at"),
  ])
  func `an endpoint that must not be one is refused`(endpoint: String, reason: String)
    async throws
  {
    let answer = try await Self.rig().device("tokens/register", Self.webPush(endpoint))
    #expect(answer.status == 400)
    let found = try answer.string("reason") ?? ""
    #expect(found.hasPrefix("subscription.endpoint \(reason)"), "\(found)")
  }

  @Test func `private addresses are accepted if the operator allows them`() async throws {
    let rig = await Self.rig(webPush: .init(allowsPrivateAddresses: true))
    for endpoint in ["https://127.0.0.1:8444/push/a", "http://localhost:1/a"] {
      #expect(try await rig.device("tokens/register", Self.webPush(endpoint)).status == 200)
    }
  }

  @Test func `the refusal of a registration names the invalid key`() async throws {
    let rig = await Self.rig()
    let off = String(Self.point.dropLast(1)) + "A"
    for (body, reason) in [
      (Self.webPush(p256dh: "AAAA"), "subscription.keys.p256dh must be"),
      (Self.webPush(p256dh: off), "subscription.keys.p256dh must be"),
      (Self.webPush(p256dh: "?"), "subscription.keys.p256dh must be"),
      (Self.webPush(auth: "AAAA"), "subscription.keys.auth must be 16 bytes"),
      (#"{"transport":"webpush"}"#, "subscription is missing"),
      (
        #"{"transport":"webpush","subscription":{"endpoint":"https://h.example/"}}"#,
        "subscription.keys is missing"
      ),
      (#"{"transport":"fcm"}"#, "token is missing"),
      (#"{"transport":"pigeon"}"#, #"transport must be "apns", "fcm" or "webpush""#),
    ] {
      let answer = try await rig.device("tokens/register", body)
      #expect(answer.status == 400)
      let found = try answer.string("reason") ?? ""
      #expect(found.hasPrefix(reason), "\(found)")
    }
  }
}

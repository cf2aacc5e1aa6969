import Crypto
import Foundation
import HTTPTypes
import RelayCore
import RelayHTTP
import RelayWire
import Testing

/// Producers who sign their requests as CloudKit's server-to-server clients do.
@Suite struct ProducerSignatureTests {
  private static let path = "/events/1/\(Rig.container)/development"
  private let key = P256.Signing.PrivateKey()

  private func rig() async throws -> Rig {
    let proof = ScopeAccess.Producer.Proof.signature(
      keyID: "key-1", try ProducerKey(pem: key.publicKey.pemRepresentation))
    return await Rig(
      access: ScopeAccess(
        users: .init(.sharedSecret(Rig.secret)),
        producers: [
          ScopeAccess.Producer(name: "records-1", proof: .bearer(Rig.producerKey)),
          ScopeAccess.Producer(name: "records-2", proof: proof),
        ]))
  }

  private struct SignedMessage {
    var body = Event().text
    var keyID: String? = "key-1"
    var date: String? = "2026-11-21T03:00:00Z"
    var path = ProducerSignatureTests.path
    /// The text to sign in place of the body's digest; `nil` means that the digest is signed.
    var digest: String?
    var signature: String?
    var contentType = "application/cloudevents+json"
    /// Further header fields, which no signature covers.
    var fields: [String: String] = [:]
  }

  private func send(_ message: SignedMessage, to rig: Rig) async throws -> Rig.Answer {
    let digest =
      message.digest ?? Base64.text(Array(SHA256.hash(data: Data(message.body.utf8))))
    let signed = "\(message.date ?? ""):\(digest):\(message.path)"
    let der = Array(try key.signature(for: Data(signed.utf8)).derRepresentation)
    var headers: HTTPFields = [.contentType: message.contentType]
    for (name, value) in message.fields { headers[.init(name)!] = value }
    headers[.init("X-Apple-CloudKit-Request-KeyID")!] = message.keyID
    headers[.init("X-Apple-CloudKit-Request-ISO8601Date")!] = message.date
    headers[.init("X-Apple-CloudKit-Request-SignatureV1")!] = message.signature ?? Base64.text(der)
    return try await rig.send(.post, Self.path, message.body, headers: headers)
  }

  private func refuses(_ message: SignedMessage, _ reason: String) async throws {
    let answer = try await send(message, to: try await rig())
    #expect(answer.status == 401, "\(answer.text)")
    #expect(try answer.string("serverErrorCode") == "AUTHENTICATION_FAILED")
    #expect(try answer.string("reason")?.contains(reason) == true, "\(answer.text)")
  }

  /// The relay accepts a repeated request, and its event counts as a duplicate by the event's id.
  @Test func `a signed request is accepted, and its repeat is a duplicate`() async throws {
    let rig = try await rig()
    let first = try await send(SignedMessage(), to: rig)
    #expect(first.status == 202)
    #expect(try first.json.required("accepted").integer() == 1)
    let again = try await send(SignedMessage(), to: rig)
    #expect(again.status == 202)
    #expect(try again.json.required("duplicates").integer() == 1)
    guard case .change(let change)? = rig.relay.seen.facts.first else {
      Issue.record("no change")
      return
    }
    #expect(change.fingerprint != 0)
  }

  private static let binary = SignedMessage(
    body: #"{"database":"private","zoneID":{"zoneName":"Z","ownerRecordName":"_abc"}}"#,
    contentType: "application/json",
    fields: [
      "ce-specversion": "1.0", "ce-id": "1", "ce-source": "/records/api-1",
      "ce-type": "zonerelay.zone.created",
    ])

  /// The signature does not cover the `ce-` headers, so a third party could turn "created" into
  /// "deleted" on the way.
  @Test func `binary mode is open to a bearer key and refused to a signing producer`()
    async throws
  {
    let rig = try await rig()
    let signed = try await send(Self.binary, to: rig)
    #expect(signed.status == 415, "\(signed.text)")
    #expect(try signed.string("serverErrorCode") == "BAD_REQUEST")
    #expect(try signed.string("reason")?.contains("structured mode") == true)
    var typed = Self.binary
    typed.contentType = ""
    #expect(try await send(typed, to: rig).status == 415)
    #expect(rig.relay.seen.facts.isEmpty)
    var headers: HTTPFields = [.contentType: "application/json"]
    for (name, value) in Self.binary.fields { headers[.init(name)!] = value }
    let plain = try await rig.send(
      .post, Self.path, Self.binary.body, bearer: Rig.producerKey, headers: headers)
    #expect(plain.status == 202, "\(plain.text)")
  }

  /// `ce-` header fields beside a structured event are ignored.
  @Test func `ce- headers beside a signed structured event change nothing`() async throws {
    let rig = try await rig()
    var message = SignedMessage()
    message.fields = ["ce-type": "zonerelay.record.deleted", "ce-id": "other"]
    #expect(try await send(message, to: rig).status == 202)
    guard case .change(let change)? = rig.relay.seen.facts.first else {
      Issue.record("no change")
      return
    }
    #expect(
      change.event == .record(RecordChange(verb: .created, name: "A1", type: "Article", tag: "7")))
  }

  @Test func `a producer's bearer key works beside another producer's signatures`() async throws {
    let rig = try await rig()
    let answer = try await rig.produce("[\(Event().text)]")
    #expect(answer.status == 202)
    #expect(try await rig.produce("[\(Event().text)]", bearer: "key-1").status == 401)
  }

  @Test func `a signed date may differ by ten minutes in either direction`() async throws {
    for date in ["2026-11-21T02:50:00Z", "2026-11-21T03:10:00Z"] {
      #expect(try await send(SignedMessage(date: date), to: try await rig()).status == 202)
    }
    for date in ["2026-11-21T02:49:59Z", "2026-11-21T03:10:01Z", "1970-01-01T00:00:00Z"] {
      try await refuses(SignedMessage(date: date), "ISO8601Date is more than 10 minutes off")
    }
  }

  @Test func `a date in another format is refused although it is signed`() async throws {
    for date in [
      "2026-11-21T03:00:00.000Z", "2026-11-21T03:00:00+00:00", "2026-11-21 03:00:00Z",
      "2026-11-21t03:00:00z", "2026-13-21T03:00:00Z", "1795230000", "2026-11-21T03:00:00",
    ] {
      try await refuses(SignedMessage(date: date), "ISO8601Date must be UTC without a fraction")
    }
  }

  @Test func `the refusal names each missing header`() async throws {
    try await refuses(SignedMessage(keyID: nil), "Request-KeyID is missing")
    try await refuses(SignedMessage(keyID: ""), "Request-KeyID is missing")
    try await refuses(SignedMessage(date: nil), "Request-ISO8601Date is missing")
    let rig = try await rig()
    let alone = try await rig.send(
      .post, Self.path, Event().text,
      headers: [
        .contentType: "application/cloudevents+json",
        .init("X-Apple-CloudKit-Request-KeyID")!: "key-1",
        .init("X-Apple-CloudKit-Request-ISO8601Date")!: "2026-11-21T03:00:00Z",
      ])
    #expect(alone.status == 401)
    #expect(try alone.string("reason")?.contains("SignatureV1 is missing") == true)
    let bare = try await rig.send(.post, Self.path, Event().text)
    #expect(bare.status == 401)
    #expect(try bare.string("reason")?.contains("no producer key") == true)
  }

  @Test func `the refusal names an unknown key id and an invalid signature`() async throws {
    try await refuses(SignedMessage(keyID: "key-2"), "KeyID names no producer")
    try await refuses(SignedMessage(keyID: "KEY-1"), "KeyID names no producer")
    for text in ["!", "AAAA", Base64.text(Array(repeating: 7, count: 64))] {
      try await refuses(SignedMessage(signature: text), "SignatureV1 must be base64")
    }
  }

  @Test func `a signature of another body, path or key does not verify`() async throws {
    let other = Base64.text(Array(SHA256.hash(data: Data("other".utf8))))
    try await refuses(SignedMessage(digest: other), "SignatureV1 does not verify")
    try await refuses(SignedMessage(digest: ""), "SignatureV1 does not verify")
    try await refuses(
      SignedMessage(path: "/events/1/other/development"), "SignatureV1 does not verify")
    try await refuses(SignedMessage(path: Self.path + "?a=b"), "SignatureV1 does not verify")
    let stranger = P256.Signing.PrivateKey()
    let digest = Base64.text(Array(SHA256.hash(data: Data(Event().text.utf8))))
    let text = "2026-11-21T03:00:00Z:\(digest):\(Self.path)"
    let der = Array(try stranger.signature(for: Data(text.utf8)).derRepresentation)
    try await refuses(SignedMessage(signature: Base64.text(der)), "SignatureV1 does not verify")
  }

  /// The signed text may hold the digest of an empty body or nothing in its place. The relay
  /// accepts either signature, and then refuses the empty body.
  @Test func `an empty body is signed with its digest or without a digest`() async throws {
    for digest in [nil, ""] {
      let answer = try await send(SignedMessage(body: "", digest: digest), to: try await rig())
      #expect(answer.status == 400, "\(answer.text)")
    }
    let wrong = Base64.text(Array(SHA256.hash(data: Data("x".utf8))))
    try await refuses(SignedMessage(body: "", digest: wrong), "SignatureV1 does not verify")
  }

  /// The command `openssl dgst -sha256 -sign` made this signature.
  @Test func `a signature made by OpenSSL verifies`() async throws {
    let proof = ScopeAccess.Producer.Proof.signature(
      keyID: "key-1", try ProducerKey(pem: OpenSSLSignature.publicKey))
    let rig = await Rig(
      access: ScopeAccess(
        users: nil, producers: [ScopeAccess.Producer(name: "records-2", proof: proof)]))
    let answer = try await rig.send(
      .post, Self.path, "",
      headers: [
        .contentType: "application/cloudevents+json",
        .init("X-Apple-CloudKit-Request-KeyID")!: "key-1",
        .init("X-Apple-CloudKit-Request-ISO8601Date")!: "2026-11-21T03:00:00Z",
        .init("X-Apple-CloudKit-Request-SignatureV1")!: OpenSSLSignature.text,
      ])
    #expect(answer.status == 400, "\(answer.text)")
  }
}

/// OpenSSL's signature of an empty body, of the time 2026-11-21T03:00:00Z and of the tests' path.
private enum OpenSSLSignature {
  static let publicKey = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAETgtkwxRt1Rf464ljg3b8rHRPWUgm
    2O2RdOaQTnj6PBrADq3nHX2sF3E/dQMrtYOMmpLJcV6RM/+uEZlJEdXslQ==
    -----END PUBLIC KEY-----
    """
  static let text =
    "MEYCIQCxr9uGzVpTEp6GpCH4pL8LgIW5bm71+VcgfziLrGoi"
    + "lQIhAJlnEpqmNjDrFuA450TEGjx9tNJAtofu3DPmbh+ODqKm"
}

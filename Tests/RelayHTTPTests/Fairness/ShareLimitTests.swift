import Crypto
import Foundation
import NIOCore
import RelayCore
import RelayWire
import Testing

@testable import RelayHTTP

/// P11: what one caller may have of a bound, one below it, at it, and one above it. Beyond its
/// share the caller is answered 429, and another caller is not.
@Suite struct ShareLimitTests {
  /// Whose body is read, and the pool that its bytes come from.
  enum Sender: CaseIterable {
    case producer, user, claim
    /// Two key ids at one time: neither has its share, and the pool of both is full.
    case claims

    /// So that the share is what one body may have.
    var inFlight: Int {
      switch self {
      case .producer, .claims: 8 * bytes
      case .user, .claim: 32 * bytes
      }
    }
  }

  private static let bytes = 2_000
  private static let events = "/events/1/\(Rig.container)/development"
  private static let list = "/device/1/\(Rig.container)/development/tokens/list"

  private static func rig(_ sender: Sender) async throws -> Rig {
    var limits = Rig.atOnce
    limits.bodyBytes = bytes
    limits.bodyBytesInFlight = sender.inFlight
    let key = try ProducerKey(pem: P256.Signing.PrivateKey().publicKey.pemRepresentation)
    return await Rig(
      limits: limits,
      access: ScopeAccess(
        users: .init(sharedSecret: Rig.secret),
        producers: [
          ScopeAccess.Producer(name: "records-1", bearer: Rig.producerKey),
          ScopeAccess.Producer(name: "records-2", proof: .signature(keyID: "key-1", key)),
          ScopeAccess.Producer(name: "records-3", proof: .signature(keyID: "key-2", key)),
        ]))
  }

  private static func signature(_ keyID: String) throws -> String {
    let signature = try P256.Signing.PrivateKey().signature(for: Data("x".utf8))
    return "X-Apple-CloudKit-Request-KeyID: \(keyID)\r\n"
      + "X-Apple-CloudKit-Request-ISO8601Date: 2026-11-21T03:00:00Z\r\n"
      + "X-Apple-CloudKit-Request-SignatureV1: "
      + Base64.text(Array(signature.derRepresentation))
  }

  /// - Parameter came: bytes of the body that are sent.
  private static func send(
    _ port: Int, _ path: String, _ proof: String, _ body: String, length: Int
  ) throws -> Socket {
    let socket = try #require(Socket(port: port))
    socket.send(
      "POST \(path) HTTP/1.1\r\nHost: x\r\n\(proof)\r\nContent-Length: \(length)\r\n"
        + "Content-Type: application/cloudevents+json\r\n\r\n\(body)")
    return socket
  }

  /// A body of which 800 bytes have come is read still, and another of so many bytes comes.
  ///
  /// Fixed limit: requestBodyBytesInFlight of a producer
  /// Fixed limit: requestBodyBytesInFlight of a user
  /// Fixed limit: requestBodyBytesInFlight of a key id and address, not yet verified
  /// Fixed limit: requestBodyBytesInFlight of all signed requests, not yet verified
  @Test(
    arguments: Sender.allCases, [(bytes: 1_199, isRefused: false), (1_200, false), (1_201, true)])
  func `one caller's bodies have at most its share of all`(
    sender: Sender, second: (bytes: Int, isRefused: Bool)
  ) async throws {
    let token = try await Rig.token(for: "_abc")
    let bearer = "Authorization: Bearer "
    let (first, next): (String, String) =
      switch sender {
      case .producer: (bearer + Rig.producerKey, bearer + Rig.producerKey)
      case .user: (bearer + token, bearer + token)
      case .claim: (try Self.signature("key-1"), try Self.signature("key-1"))
      case .claims: (try Self.signature("key-1"), try Self.signature("key-2"))
      }
    let path = sender == .user ? Self.list : Self.events
    let text = sender == .user ? "{}" : Event().text
    let body = text + String(repeating: " ", count: second.bytes - text.utf8.count)
    let rig = try await Self.rig(sender)
    let bodies = rig.doors.bodies
    let answer = try await rig.served { port, _ in
      let slow = try Self.send(
        port, path, first, String(repeating: " ", count: 800), length: 801)
      Socket.wait { bodies.bytes == 800 }
      let answer = try Self.send(port, path, next, body, length: second.bytes).receive(until: "}")
      #expect(!slow.hears(withinMilliseconds: 0), "the first body is read still")
      return answer
    }
    let (taken, refused): (String, String) =
      switch sender {
      case .producer: ("202", "429")
      case .user: ("200", "429")
      // Taken means read: only then the signature is found to be wrong.
      case .claim: ("401", "429")
      case .claims: ("401", "503")
      }
    #expect(answer.hasPrefix("HTTP/1.1 \(second.isRefused ? refused : taken) "), "\(answer)")
    #expect(answer.contains("Retry-After: 1\r\n") == second.isRefused)
    #expect(bodies.bytes == 0)
  }

  private static let facts = [
    Fact.setBadge(BadgeRequest(scope: Rig.scope, user: UserID("_a"), topic: nil, badge: 1))
  ]

  /// Fixed limit: inboxChanges of a producer
  @Test(arguments: [(taken: 2, isRefused: false), (3, false), (4, true)])
  func `a producer has half of the inbox's changes`(taken: Int, isRefused: Bool) throws {
    var limits = HTTPLimits()
    (limits.eventsPerRequest, limits.inboxChanges) = (1, 8)
    let fairness = Fairness(limits)
    let caller = CallerID.producer(Rig.scope, "records-1")
    for _ in 0..<taken { _ = try fairness.take(Self.facts, for: caller) }
    if isRefused {
      let refusal = #expect(throws: WireError.self) {
        try fairness.take(Self.facts, for: caller)
      }
      #expect(refusal?.code == .throttled && refusal?.retryAfterSeconds == 1)
    } else {
      _ = try fairness.take(Self.facts, for: caller)
    }
    _ = try fairness.take(Self.facts, for: .producer(Rig.scope, "records-2"))
  }

  /// Two facts in a share that is one byte short of both, meets them, and has one to spare.
  ///
  /// Fixed limit: inboxBytes of a producer
  /// Fixed limit: inboxBytes of a user
  @Test(
    arguments: [(isUser: true, parts: 8), (false, 2)],
    [(spare: -1, isRefused: true), (0, false), (1, false)])
  func `a caller has a share of the inbox's bytes`(
    caller: (isUser: Bool, parts: Int), last: (spare: Int, isRefused: Bool)
  ) throws {
    let bytes = Self.facts[0].footprint
    var limits = HTTPLimits()
    limits.inboxBytes = caller.parts * (2 * bytes + last.spare)
    let fairness = Fairness(limits)
    let own: CallerID =
      caller.isUser
      ? .user(Rig.scope, UserID("_a")) : .producer(Rig.scope, "records-1")
    let first = try fairness.take(Self.facts, for: own)
    if last.isRefused {
      let refusal = #expect(throws: WireError.self) { try fairness.take(Self.facts, for: own) }
      #expect(refusal?.code == .throttled && refusal?.retryAfterSeconds == 1)
      fairness.giveBack(first, of: own)
    }
    let second = try fairness.take(Self.facts, for: own)
    #expect(second == Fairness.Taken(changes: 1, bytes: bytes))
    _ = try fairness.take(Self.facts, for: .user(Rig.scope, UserID("_b")))
  }

  /// A share is never less than one request may need.
  @Test func `a small bound leaves each caller room for one request`() {
    var limits = HTTPLimits()
    limits.bodyBytes = 1_000
    limits.bodyBytesInFlight = 1_000
    #expect(limits.bodyBytesPerProducer == 1_000 && limits.bodyBytesPerUser == 1_000)
    #expect(limits.bodyBytesPerClaim == 1_000 && limits.unverifiedBodyBytes == 1_000)
    (limits.eventsPerRequest, limits.inboxChanges) = (7, 8)
    #expect(limits.changesPerProducer == 7)
    for (readers, share) in [(1, 16), (271, 16), (272, 17), (4_096, 256)] {
      limits.waitingReaders = readers
      #expect(limits.requestsPerCaller == share)
    }
  }

  /// Of a public address; from any other one a hundred times as many may fail.
  ///
  /// Limit: limits.failedAuthenticationsPerMinute
  @Test(
    arguments: [(text: "8.8.8.8", most: 3), ("10.0.0.1", 300)],
    [(offset: -1, isRefused: false), (0, false), (1, true)])
  func `of one address at most so many authentications fail in a minute`(
    address: (text: String, most: Int), last: (offset: Int, isRefused: Bool)
  ) throws {
    var limits = HTTPLimits()
    limits.failedAuthenticationsPerMinute = 3
    let fairness = Fairness(limits)
    let remote = RemoteAddress(try SocketAddress(ipAddress: address.text, port: 1))
    let now = Instant(milliseconds: 1_000_000)
    let failure = WireError(.authenticationFailed, "no")
    var answer = failure
    for _ in 0..<address.most + last.offset {
      #expect(answer == failure)
      answer = fairness.failed(failure, from: remote, at: now)
    }
    #expect((answer.code == .throttled) == last.isRefused)
    #expect(answer.retryAfterSeconds == (last.isRefused ? (address.most == 3 ? 20 : 1) : nil))
    let other = RemoteAddress(try SocketAddress(ipAddress: "8.8.4.4", port: 1))
    #expect(fairness.failed(failure, from: other, at: now) == failure)
  }

  /// A signed body was read again as soon as a hundredth of one failure's price was back.
  @Test func `a signed body is not read until another authentication may fail`() throws {
    var limits = HTTPLimits()
    limits.failedAuthenticationsPerMinute = 3
    let fairness = Fairness(limits)
    let remote = RemoteAddress(try SocketAddress(ipAddress: "8.8.8.8", port: 1))
    let now = Instant(milliseconds: 1_000_000)
    let failure = WireError(.authenticationFailed, "no")
    for _ in 0..<3 {
      try fairness.mayClaim(from: remote, at: now)
      _ = fairness.failed(failure, from: remote, at: now)
    }
    for (seconds, wait) in [(Int64(0), 20), (1, 19), (19, 1)] {
      let refusal = #expect(throws: WireError.self) {
        try fairness.mayClaim(from: remote, at: now + .seconds(seconds))
      }
      #expect(refusal?.code == .throttled && refusal?.retryAfterSeconds == wait)
    }
    try fairness.mayClaim(from: remote, at: now + .seconds(20))
    #expect(fairness.failed(failure, from: remote, at: now + .seconds(20)) == failure)
  }
}

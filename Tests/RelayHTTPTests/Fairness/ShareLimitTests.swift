import NIOCore
import RelayCore
import RelayWire
import Testing

@testable import RelayHTTP

/// P11: one caller's share of a bound, tested one below the share, at the share, and one above it.
/// A caller beyond its share is answered 429, and another caller is not.
@Suite struct ShareLimitTests {
  /// The sender of a body, which decides the pool that its bytes count in.
  enum Sender: CaseIterable {
    case producer, user, claim
    /// Two key ids at the same time: neither uses its whole share, but their common pool is full.
    case claims

    /// The limit for the bytes of all bodies. With it, this sender's share equals the largest body.
    var inFlight: Int {
      switch self {
      case .producer, .claims: 8 * bytes
      case .user, .claim: 32 * bytes
      }
    }
  }

  private static let bytes = 2_000

  private static func rig(_ sender: Sender) async throws -> Rig {
    var limits = Rig.atOnce
    limits.bodyBytes = bytes
    limits.bodyBytesInFlight = sender.inFlight
    return try await Rig(limits: limits, signers: ["key-1", "key-2"])
  }

  /// The server still reads a body of which 800 bytes have come when another body of `bytes` bytes
  /// arrives.
  ///
  /// Fixed limit: requestBodyBytesInFlight of a producer
  /// Fixed limit: requestBodyBytesInFlight of a user
  /// Fixed limit: requestBodyBytesInFlight of a key id and address, not yet verified
  /// Fixed limit: requestBodyBytesInFlight of all signed requests, not yet verified
  @Test(
    arguments: Sender.allCases, [(bytes: 1_199, isRefused: false), (1_200, false), (1_201, true)])
  func `one caller's bodies take at most the caller's share of the bytes`(
    sender: Sender, second: (bytes: Int, isRefused: Bool)
  ) async throws {
    let token = try await Rig.token(for: "_abc")
    let signature = Rig.forgedSignature(keyID:)
    let (first, next): (String, String) =
      switch sender {
      case .producer: (Rig.bearer(Rig.producerKey), Rig.bearer(Rig.producerKey))
      case .user: (Rig.bearer(token), Rig.bearer(token))
      case .claim: (try signature("key-1"), try signature("key-1"))
      case .claims: (try signature("key-1"), try signature("key-2"))
      }
    let path = sender == .user ? Rig.listPath : Rig.eventsPath
    let text = sender == .user ? "{}" : Event().text
    let body = text + String(repeating: " ", count: second.bytes - text.utf8.count)
    let rig = try await Self.rig(sender)
    let bodies = rig.api.bodies
    let answer = try await rig.served { port, _ in
      let slow = try Socket.post(
        port, path, first, String(repeating: " ", count: 800), length: 801)
      Socket.wait { bodies.bytes == 800 }
      let answer = try Socket.post(port, path, next, body).receive(until: "}")
      #expect(!slow.hears(withinMilliseconds: 0), "the first body is read still")
      return answer
    }
    let (taken, refused): (String, String) =
      switch sender {
      case .producer: ("202", "429")
      case .user: ("200", "429")
      // The signature of a claim is wrong. The relay sees that only when it has read the body, so
      // status 401 means that there was room for the body.
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
  func `one producer's changes take at most half of the inbox`(taken: Int, isRefused: Bool) throws {
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

  /// Two facts, and a share that is one byte too small for both, just large enough, or one byte
  /// larger.
  ///
  /// Fixed limit: inboxBytes of a producer
  /// Fixed limit: inboxBytes of a user
  @Test(
    arguments: [(isUser: true, parts: 8), (false, 2)],
    [(spare: -1, isRefused: true), (0, false), (1, false)])
  func `one caller's facts take at most the caller's share of the inbox bytes`(
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

  /// Fixed limit: waitingReaders of a user, or of a producer
  @Test(
    arguments: [
      CallerID.user(Rig.scope, UserID("_a")), .producer(Rig.scope, "records-1"),
    ], [(underWay: 15, isRefused: false), (16, false), (17, true)])
  func `one caller has at most its share of the requests under way`(
    caller: CallerID, last: (underWay: Int, isRefused: Bool)
  ) throws {
    var limits = HTTPLimits()
    limits.waitingReaders = 256
    let fairness = Fairness(limits)
    var places = try (1..<last.underWay).map { _ in try fairness.begin(for: caller) }
    if last.isRefused {
      let refusal = #expect(throws: WireError.self) { try fairness.begin(for: caller) }
      #expect(refusal?.code == .throttled && refusal?.retryAfterSeconds == 1)
    } else {
      places.append(try fairness.begin(for: caller))
    }
    places.append(try fairness.begin(for: .user(Rig.scope, UserID("_b"))))
    #expect(fairness.requestsUnderWay == places.count)
  }

  /// A share is never smaller than what one request may need.
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

  /// The limit for a public address. From any other address, a hundred times as many
  /// authentications may fail.
  ///
  /// Limit: limits.failedAuthenticationsPerMinute
  @Test(
    arguments: [(text: "8.8.8.8", most: 3), ("10.0.0.1", 300)],
    [(offset: -1, isRefused: false), (0, false), (1, true)])
  func `failed authentications of one address are limited per minute`(
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

  /// Earlier, the relay read the next signed body much too soon: after a hundredth of the time for
  /// which one failed authentication throttles the address.
  @Test func `a signed body is not read while its address is throttled`() throws {
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

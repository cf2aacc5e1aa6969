import HTTPTypes
import Logging
import RelayCore
import RelayEngine
import RelayWire
import Synchronization
import Testing

@testable import RelayHTTP

/// The keys of users behind a URL: keys that change, and a URL that does not answer.
@Suite struct JWKSCacheTests {
  private static let address = KeySetAddress(url: "https://accounts.example.com/keys")
  private static let path = "/device/1/\(Rig.container)/development/tokens/list"

  /// An account server whose answer the test sets. The server counts the requests.
  private final class Accounts: KeySetSource {
    private let state = Mutex(
      (
        answer: Result<FetchedKeySet, KeySetFailure>.failure(.init("connection refused")), count: 0,
        isSlow: false
      ))
    private let (end, ended) = AsyncStream<Void>.makeStream()

    func answer(_ answer: Result<FetchedKeySet, KeySetFailure>) {
      state.withLock { $0.answer = answer }
    }

    func publish(_ keys: [String]) {
      answer(.success(FetchedKeySet(bytes: AccountKey.set(keys), maxAge: .minutes(10))))
    }

    /// While the server is slow, it chooses its answer when a request arrives, and gives the answer
    /// only after `answerTheSlow`.
    func beSlow(_ isSlow: Bool) { state.withLock { $0.isSlow = isSlow } }

    func answerTheSlow() { ended.finish() }

    var count: Int { state.withLock { $0.count } }

    func fetch(_ address: KeySetAddress) async throws(KeySetFailure) -> FetchedKeySet {
      let (answer, isSlow) = state.withLock { state in
        state.count += 1
        return (state.answer, state.isSlow)
      }
      if isSlow { for await _ in end {} }
      return try answer.get()
    }
  }

  private final class MovingClock: ClockReader {
    private let time = Mutex(Instant(milliseconds: 1_000))
    func wall() -> Instant { boot() }
    func boot() -> Instant { time.withLock { $0 } }
    func pass(_ span: Span) { time.withLock { $0 = $0 + span } }
  }

  private struct World {
    let accounts = Accounts()
    let clock = MovingClock()
    let issues = HealthIssues()
    let cache: JWKSCache

    init() {
      cache = JWKSCache(
        source: accounts, clock: clock, issues: issues,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Runs the `JWKSCache` in a task of its own while `body` runs.
    func run(_ body: @escaping @Sendable (World, Rig) async throws -> Void) async throws {
      let world = self
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await world.cache.run() }
        let keys = cache.keys(at: address)
        let rig = await Rig(access: ScopeAccess(users: .init(.remote(keys))))
        try await body(world, rig)
        group.cancelAll()
      }
    }

    /// Advances the clock and lets the cache check for due fetches. Returns when the next fetch has
    /// begun.
    func pass(_ span: Span) async throws {
      let before = accounts.count
      clock.pass(span)
      _ = cache.keys(at: address)
      while accounts.count == before {
        try Task.checkCancellation()
        await Task.yield()
      }
    }
  }

  private static func status(_ rig: Rig, _ token: String) async throws -> Int {
    try await rig.send(.post, path, "{}", bearer: token).status
  }

  private static func until(_ isTrue: () async throws -> Bool) async throws {
    while try await !isTrue() {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `the first token waits for the first keys`() async throws {
    let world = World()
    let key = AccountKey.curve
    world.accounts.publish([try key.shown(id: "a")])
    let token = try key.token(#","kid":"a""#)
    try await world.run { (world: World, rig: Rig) async throws -> Void in
      #expect(try await Self.status(rig, token) == 200)
      #expect(world.accounts.count == 1)
      #expect(world.issues.reasons == [])
    }
  }

  /// While the account server is down, the answer is not 401, so clients do not sign their users
  /// out.
  @Test(.timeLimit(.minutes(1)))
  func `without keys the relay answers try again later, and status says why`() async throws {
    let world = World()
    let key = AccountKey.curve
    let (token, shown) = (try key.token(#","kid":"a""#), try key.shown(id: "a"))
    try await world.run { (world: World, rig: Rig) async throws -> Void in
      let answer = try await rig.send(.post, Self.path, "{}", bearer: token)
      #expect(answer.status == 503)
      #expect(try answer.string("serverErrorCode") == "TRY_AGAIN_LATER")
      #expect(try answer.json.required("retryAfter").integer() == 5)
      try await Self.until { !world.issues.reasons.isEmpty }
      let reason = try #require(world.issues.reasons.first)
      #expect(reason.contains("https://accounts.example.com cannot"))
      #expect(reason.contains("connection refused"))
      world.accounts.publish([shown])
      try await world.pass(.seconds(5))
      try await Self.until { try await Self.status(rig, token) == 200 }
      #expect(world.issues.reasons == [])
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a new key is fetched when a token names it, at most once a minute`() async throws {
    let world = World()
    let (old, new) = (AccountKey.curve, AccountKey.edwards)
    world.accounts.publish([try old.shown(id: "a")])
    let tokens = (
      old: try old.token(#","kid":"a""#), new: try new.token(#","kid":"b""#),
      stranger: try new.token(#","kid":"c""#)
    )
    let shown = try new.shown(id: "b")
    try await world.run { (world: World, rig: Rig) async throws -> Void in
      #expect(try await Self.status(rig, tokens.old) == 200)
      world.accounts.publish([shown])
      #expect(try await Self.status(rig, tokens.new) == 401, "asked a moment ago")
      #expect(world.accounts.count == 1)
      world.clock.pass(.minutes(1))
      #expect(try await Self.status(rig, tokens.new) == 200)
      #expect(world.accounts.count == 2)
      // The old key is no longer in the set, so the cached results of the old key's tokens are
      // gone.
      #expect(try await Self.status(rig, tokens.old) == 401)
      for _ in 1...5 { #expect(try await Self.status(rig, tokens.stranger) == 401) }
      #expect(world.accounts.count == 2)
      world.clock.pass(.minutes(1))
      #expect(try await Self.status(rig, tokens.stranger) == 401)
      #expect(world.accounts.count == 3)
      #expect(try await Self.status(rig, tokens.new) == 200)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a failed refresh keeps the old keys and is reported until one succeeds`() async throws {
    let world = World()
    let key = AccountKey.curve
    let shown = try key.shown(id: "a")
    world.accounts.publish([shown])
    let token = try key.token(#","kid":"a""#)
    try await world.run { (world: World, rig: Rig) async throws -> Void in
      #expect(try await Self.status(rig, token) == 200)
      let bad: [(answer: Result<FetchedKeySet, KeySetFailure>, why: String)] = [
        (.failure(.init("status 500")), "status 500"),
        (.success(FetchedKeySet(bytes: Array("<html>".utf8))), "the answer"),
        (.success(FetchedKeySet(bytes: AccountKey.set([]))), "it lists no key"),
      ]
      for (answer, why) in bad {
        world.accounts.answer(answer)
        try await world.pass(.minutes(10))
        // Each fetch fails for a reason of its own. The reason of an earlier fetch would not prove
        // that this fetch has ended.
        try await Self.until { world.issues.reasons.first?.contains(why) == true }
        #expect(world.issues.reasons.first?.contains("stay in use") == true)
        #expect(try await Self.status(rig, token) == 200)
      }
      world.accounts.publish([shown])
      try await world.pass(.minutes(10))
      try await Self.until { world.issues.reasons.isEmpty }
      #expect(try await Self.status(rig, token) == 200)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a key set that no environment names is neither fetched nor reported`() async throws {
    let world = World()
    try await world.run { (world: World, rig: Rig) async throws -> Void in
      try await Self.until { !world.issues.reasons.isEmpty }
      let kept = world.cache.keys(at: Self.address)
      world.cache.keep([Self.address])
      #expect(world.cache.keys(at: Self.address) == kept)
      world.cache.keep([])
      #expect(world.issues.reasons == [])
      #expect(world.cache.keys(at: Self.address) != kept)
    }
  }

  /// The operator corrects the URL while a fetch hangs. The result of that fetch must not reach any
  /// key set.
  @Test(.timeLimit(.minutes(1)), arguments: [false, true])
  func `a key set that a reload removed is not reported later`(isBack: Bool) async throws {
    let world = World()
    world.accounts.beSlow(true)
    let shown = try AccountKey.curve.shown(id: "a")
    try await world.run { (world: World, rig: Rig) async throws -> Void in
      try await Self.until { world.accounts.count == 1 }
      world.cache.keep([])
      world.accounts.beSlow(false)
      if isBack {
        world.accounts.publish([shown])
        _ = await world.cache.keys(at: Self.address).current()
      }
      world.accounts.answerTheSlow()
    }
    // By now every fetch is over.
    #expect(world.issues.reasons == [])
  }

  @Test func `status and metrics show issues outside the engine`() async throws {
    let relay = TestRelay()
    let issues = HealthIssues()
    let rig = await Rig(relay: relay)
    let admin = AdminAPI(
      relay: relay, reader: relay, reads: rig.reads, keys: rig.keys, clock: TestClock(),
      access: await ScopeRegistry([:], keys: rig.keys, limits: HTTPLimits()), issues: issues,
      settings: rig.settings)
    issues.tell("b", "the second")
    issues.tell("a", "the first")
    let answer = try await Rig.ask(admin, "/status")
    #expect(answer.contains(#""healthy":false"#))
    #expect(answer.contains(#"["the first","the second"]"#))
    #expect(try await Rig.ask(admin, "/metrics").contains("zonerelay_healthy 0"))
    issues.settle("a")
    issues.settle("b")
    #expect(try await Rig.ask(admin, "/status").contains(#""healthy":true"#))
  }
}

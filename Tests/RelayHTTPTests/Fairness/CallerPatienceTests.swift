import HTTPTypes
import RelayCore
import Synchronization
import Testing

@testable import RelayHTTP

/// A request waits for a place only until its own deadline, gets a place only within its caller's
/// share, and can be cancelled.
@Suite(.timeLimit(.minutes(1))) struct CallerPatienceTests {
  private static func caller(_ name: String) -> CallerID { .user(Rig.scope, UserID(name)) }

  /// Fixed limit: looks into the store of one caller at one moment
  @Test(arguments: [(pieces: 1, atOnce: 1), (2, 2), (3, 2)])
  func `a caller takes only its share of places, and other callers get theirs`(
    pieces: Int, atOnce: Int
  ) async {
    let (turns, work) = (CallerTurns(places: 4, share: 2), HeldWork())
    await withTaskGroup(of: Bool?.self) { group in
      for _ in 0..<pieces {
        group.addTask {
          await turns.work(for: Self.caller("_busy")) {
            await work.run()
            return true
          }
        }
      }
      while work.begun.count + turns.waiting < pieces { await Task.yield() }
      #expect(work.begun.count == atOnce && turns.waiting == pieces - atOnce)
      #expect(await turns.work(for: Self.caller("_other")) { true } == true)
      #expect(turns.waiting == pieces - atOnce, "its own work waits for its own places")
      work.letGo()
      for await isDone in group { #expect(isDone == true) }
    }
    #expect(turns.waiting == 0)
  }

  @Test(arguments: [(places: 1, share: 1), (2, 1), (3, 1), (4, 2), (8, 4)])
  func `one caller's share is half of the places for store reads, at least one`(
    places: Int, share: Int
  ) {
    var limits = HTTPLimits()
    limits.storeLooks = places
    #expect(limits.storeLooksPerCaller == share)
  }

  @Test func `work past its deadline leaves the queue, and later work gets its turn`() async {
    let (turns, work) = (CallerTurns(places: 1), HeldWork())
    await withTaskGroup(of: String.self) { group in
      func add(_ name: String, until: Int64, waiting: Int) async {
        group.addTask {
          let until = Instant(milliseconds: until)
          let isDone = await turns.work(for: Self.caller(name), until: until) {
            await work.run()
            return true
          }
          return isDone == true ? "\(name) done" : "\(name) late"
        }
        while work.begun.count < 1 || turns.waiting < waiting { await Task.yield() }
      }
      await add("_a", until: 1, waiting: 0)
      await add("_b", until: 20, waiting: 1)
      await add("_b", until: 10, waiting: 2)
      await add("_c", until: 30, waiting: 3)
      turns.expire(at: Instant(milliseconds: 9))
      #expect(turns.waiting == 3)
      turns.expire(at: Instant(milliseconds: 10))
      #expect(turns.waiting == 2)
      #expect(await group.next() == "_b late")
      turns.expire(at: Instant(milliseconds: 20))
      #expect(turns.waiting == 1)
      #expect(await group.next() == "_b late")
      work.letGo()
      let rest = await group.reduce(into: Set()) { $0.insert($1) }
      #expect(rest == ["_a done", "_c done"], "what runs is not given up")
    }
    #expect(await turns.work(for: Self.caller("_b")) { true } == true, "its place is free again")
  }

  @Test func `cancelled work leaves the queue and takes no place`() async {
    let (turns, work) = (CallerTurns(places: 1), HeldWork())
    await withTaskGroup(of: Void.self) { group in
      group.addTask { _ = await turns.work(for: Self.caller("_a")) { await work.run() } }
      while work.begun.count < 1 { await Task.yield() }
      await withTaskGroup(of: Bool?.self) { gone in
        for _ in 0..<2 { gone.addTask { await turns.work(for: Self.caller("_b")) { true } } }
        while turns.waiting < 2 { await Task.yield() }
        gone.cancelAll()
        for await isDone in gone { #expect(isDone == nil) }
      }
      #expect(turns.waiting == 0)
      work.letGo()
    }
    #expect(await turns.work(for: Self.caller("_b")) { true } == true)
  }

  /// Limit: limits.answerWithin
  @Test(arguments: [(seconds: Int64(19), status: 200), (20, 503), (21, 503)])
  func `a reader that waits too long is answered 503 with Retry-After`(
    seconds: Int64, status: Int
  ) async throws {
    var limits = Rig.atOnce
    limits.storeLooks = 1
    let (rig, work) = (await Rig(limits: limits), HeldWork())
    rig.relay.behave { $0.onPage = { _ in await work.run() } }
    try await withThrowingTaskGroup(of: Rig.Answer.self) { group in
      group.addTask { try await rig.device("notifications/changes", as: "_busy") }
      while work.begun.count < 1 { await Task.yield() }
      group.addTask { try await rig.device("notifications/changes", as: "_other") }
      while rig.api.store.looks.waiting < 1 { await Task.yield() }
      rig.api.store.looks.expire(at: TestClock().now + .seconds(seconds))
      #expect(rig.api.store.looks.waiting == (status == 200 ? 1 : 0))
      if status != 200 {
        let late = try #require(try await group.next())
        #expect(late.status == status && late.headers[.retryAfter] == "5")
        #expect(late.text.contains("TRY_AGAIN_LATER") && late.text.contains("takes too long"))
      }
      work.letGo()
      for try await answer in group { #expect(answer.status == 200) }
    }
  }

  /// Two hundred zones need two hundred looks into the store. Each look may wait only for the time
  /// that the earlier looks have left over.
  @Test func `all store reads of one request share one deadline`() async throws {
    let clock = PassingClock()
    let rig = await Rig(clock: clock)
    for zone in ["A", "B", "C"] { try await rig.create(["r"], zone: zone) }
    let read = Mutex(0)
    rig.relay.behave {
      $0.onPage = { _ in
        read.withLock { $0 += 1 }
        clock.pass(.seconds(10))
      }
    }
    let until = clock.boot() + .seconds(20)
    let zones = ["A", "B", "C"].map { "{\(Rig.zone($0))}" }.joined(separator: ",")
    let answer = try await rig.database("changes/zone", #"{"zones":[\#(zones)]}"#)
    #expect(answer.status == 503 && answer.headers[.retryAfter] == "5")
    #expect(read.withLock { $0 } == 2, "the third had no time left")
    #expect(rig.relay.seen.waitedUntil.last == until, "folds are waited for within the same time")
    rig.relay.behave { $0.onPage = { _ in } }
    let again = try await rig.database("changes/zone", #"{"zones":[\#(zones)]}"#)
    #expect(again.status == 200)
  }
}

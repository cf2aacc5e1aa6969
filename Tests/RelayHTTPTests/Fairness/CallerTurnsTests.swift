import RelayCore
import Synchronization
import Testing

@testable import RelayHTTP

/// Work without a free place waits, and callers take turns, however much work of one caller waits.
@Suite struct CallerTurnsTests {
  /// Fixed limit: looks into the store at one moment
  @Test(arguments: [1, 3, 4])
  func `work is limited to the given places, and waiting callers take turns`(places: Int) async {
    let (turns, work) = (CallerTurns(places: places), HeldWork())
    await withTaskGroup(of: Void.self) { group in
      func add(_ user: String, waiting: Int) async {
        group.addTask {
          _ = await turns.work(for: .user(Rig.scope, UserID(user))) { await work.run(user) }
        }
        while work.begun.count < places || turns.waiting < waiting { await Task.yield() }
      }
      for _ in 0..<places - 1 {
        group.addTask { _ = await turns.work(for: .operators) { await work.run("_busy") } }
      }
      for waiting in 0..<8 { await add("_busy", waiting: waiting) }
      await add("_other", waiting: 8)
      #expect(work.begun.count == places)
      await work.letGoInTurn(places - 1 + 9)
    }
    let place = work.begun.firstIndex(of: "_other") ?? .max
    #expect(place <= places + 1, "one of the busy user's was before it, and not all eight")
    #expect(work.begun.count == places - 1 + 9)
    #expect(turns.waiting == 0)
  }

  @Test func `failed work frees its place for the next work`() async throws {
    struct Wrong: Error {}
    let turns = CallerTurns(places: 1)
    await #expect(throws: Wrong.self) {
      try await turns.work(for: .operators) { () async throws(Wrong) in throw Wrong() }
    }
    #expect(await turns.work(for: .operators) { true } == true)
  }

  /// Earlier, 300 pages of one user, each of 200 zones, delayed one page of another user for
  /// seconds.
  @Test func `one user's many pages do not delay another user's page`() async throws {
    var limits = Rig.atOnce
    limits.storeLooks = 4
    let (rig, work) = (await Rig(limits: limits), HeldWork())
    try await rig.create(["r"], zone: "Z")
    rig.relay.behave { $0.onPage = { await work.run($0.name) } }
    try await withThrowingTaskGroup(of: Void.self) { group in
      func ask(_ user: String) {
        group.addTask { _ = try await rig.device("notifications/changes", as: user) }
      }
      for _ in 0..<30 { ask("_busy") }
      while work.begun.count + rig.api.store.looks.waiting < 30 { await Task.yield() }
      #expect(work.begun.count == 2, "the busy user's other pages wait, though two could be read")
      ask("_other")
      while work.begun.count + rig.api.store.looks.waiting < 31 { await Task.yield() }
      #expect(work.begun.dropFirst(2).contains("_other"), "it has a place at once")
      work.letGo()
      try await group.waitForAll()
    }
  }
}

import Dispatch
import RelayCore
import Synchronization
import Testing

@testable import RelayEngine

/// Only the decision loop sends beats to the watchdog, two in each of the loop's turns.
@Suite struct WatchdogTests {
  @Test func `an idle loop still beats the watchdog`() async throws {
    let notifier = CountingSupervisor()
    try await World(notifier: notifier).run { _ in await notifier.beats(3) }
  }

  /// With a short watchdog interval an idle loop beats more often than with a long one.
  @Test func `an idle loop beats as often as its watchdog interval requires`() async throws {
    let (fast, slow) = (
      CountingSupervisor(every: Span(milliseconds: 10)),
      CountingSupervisor(every: Span(milliseconds: 300))
    )
    try await World(notifier: slow).run { _ in
      try await World(notifier: fast).run { _ in
        // A turn sends two beats, so the test waits for one whole turn of the slow loop.
        await slow.beats(slow.count + 2)
        let before = fast.count
        await slow.beats(slow.count + 4)
        #expect(fast.count >= before + 10)
      }
    }
  }

  /// Each turn steps a bounded part of a long batch, and beats.
  @Test func `a loop beats while it steps a long batch`() async throws {
    let notifier = CountingSupervisor()
    try await World(notifier: notifier).run { engine in
      let zone = ZoneID(name: "Z", owner: UserID("_abc"))
      let before = notifier.count
      _ = try await engine.submit((1...6_400).map { World.change(UInt64($0), zone) })
      #expect(notifier.count >= before + 4)
    }
  }

  @Test func `the loop reports how long a stop may wait for verdicts`() async throws {
    let notifier = CountingSupervisor()
    let world = World(notifier: notifier) { $0.drainGrace = .minutes(5) }
    try await world.run { _ in #expect(notifier.grace == nil) }
    #expect(notifier.grace == .minutes(5))
  }

  /// In this test a sender blocks, which no sender may do, and so it blocks the loop. The beats of
  /// another loop in the same process measure time.
  @Test func `a blocked loop does not beat while its process runs`() async throws {
    let (stuck, healthy) = (CountingSupervisor(), CountingSupervisor())
    let trap = Trap()
    try await World(notifier: healthy).run { _ in
      try await World(notifier: stuck, sender: trap).run { engine in
        let zone = ZoneID(name: "Z", owner: UserID("_abc"))
        _ = try await engine.submit([World.registration("_abc", 1, token: 1)])
        _ = try await engine.submit([World.zoneSubscription("_abc", zone)])
        _ = try await engine.submit([World.change(1, zone)])
        await trap.sprung()
        let before = stuck.count
        await healthy.beats(healthy.count + 3)
        #expect(stuck.count == before)
        trap.release()
        await stuck.beats(before + 1)
      }
    }
  }
}

/// Counts the engine's signs of life, and resumes the callers that wait for a number of them.
private final class CountingSupervisor: ServiceNotifier {
  private struct State {
    var count = 0
    var grace: Span?
    var waiters: [(count: Int, CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())
  let beatEvery: Span

  init(every span: Span = .seconds(1)) { beatEvery = span }

  var count: Int { state.withLock { $0.count } }
  /// The longest time that a stop waits for verdicts, as the loop reported it.
  var grace: Span? { state.withLock { $0.grace } }

  func beat() {
    let due = state.withLock { state in
      state.count += 1
      let due = state.waiters.filter { $0.count <= state.count }.map(\.1)
      state.waiters.removeAll { $0.count <= state.count }
      return due
    }
    for waiter in due { waiter.resume() }
  }

  /// Returns when there were `count` beats in all.
  func beats(_ count: Int) async {
    await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
      let isThere = state.withLock { state in
        if state.count >= count { return true }
        state.waiters.append((count, waiter))
        return false
      }
      if isThere { waiter.resume() }
    }
  }

  func ready() {}
  func status(_ line: String) {}
  func stopping(grace: Span) { state.withLock { $0.grace = grace } }
}

/// A sender whose first push does not return until it is released.
private final class Trap: PushSender {
  private struct State {
    var isSprung = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())
  private let door = DispatchSemaphore(value: 0)

  func send(
    _ push: Push, _ handover: Handover, answer: @escaping @Sendable (Verdict) -> Void
  ) {
    let waiter = state.withLock { state in
      state.isSprung = true
      return state.waiter.take()
    }
    waiter?.resume()
    door.wait()
    answer(.delivered)
  }

  func release() { door.signal() }

  func sprung() async {
    await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
      let isSprung = state.withLock { state in
        if !state.isSprung { state.waiter = waiter }
        return state.isSprung
      }
      if isSprung { waiter.resume() }
    }
  }

  let health = SenderHealth()
  func run() async {}
}

import RelayCore
import RelayEngine
import Synchronization
import Testing

@testable import RelayPush

/// A push that was taken back is never sent, wherever it waits.
@Suite(.serialized, .timeLimit(.minutes(1))) struct TakenBackTests {
  private static func send(
    _ engine: PushEngine, _ number: Int, _ handover: Handover, within milliseconds: Int64 = 5_000
  ) async -> Outcome {
    await withCheckedContinuation { continuation in
      engine.send(
        EngineWorld.request(number), handover, until: .now + Span(milliseconds: milliseconds)
      ) { continuation.resume(returning: $0) }
    }
  }

  /// The first request is answered, so that the connection is open before a test measures waiting
  /// times.
  private static var oneStream: (ScriptedPeer.Script, EngineLimits) {
    var script = ScriptedPeer.Script()
    script.limit = 1
    var limits = EngineWorld.limits
    limits.connections = 1
    return (script, limits)
  }

  @Test func `a push taken back while it waits for a stream is not sent`() async throws {
    var (script, limits) = Self.oneStream
    let isAsked = Mutex(false)
    script.onRequest = { asked in
      guard asked.count == 2 else { return [.answer(asked.stream, 200)] }
      isAsked.withLock { $0 = true }
      return []
    }
    try await EngineWorld.run(script, limits: limits) { world in
      #expect(await Self.send(world.engine, 1, Handover()).status == 200)
      async let first = Self.send(world.engine, 2, Handover(), within: 2_000)
      while !isAsked.withLock({ $0 }) {
        try Task.checkCancellation()
        await Task.yield()
      }
      let handover = Handover()
      async let second = Self.send(world.engine, 3, handover)
      while world.engine.status.waiting == 0 {
        try Task.checkCancellation()
        await Task.yield()
      }
      #expect(handover.takeBack { Issue.record("it was not leaving") })
      #expect(await first.failure?.code == .timeout)
      let failure = await second.failure
      #expect(failure?.code == .takenBack)
      #expect(failure?.verdict == .later(after: nil, .recalled, .init(failure?.message ?? "")))
      #expect(world.peer.record.requests == 2 && world.engine.status.waiting == 0)
    }
  }

  /// A GOAWAY shows that the provider has not processed the push. The engine would then send the
  /// push again if the push had not been taken back.
  @Test func `a push taken back before a GOAWAY is not sent again`() async throws {
    var (script, limits) = Self.oneStream
    let handover = Handover()
    let hasLeft = Mutex(false)
    script.onRequest = { asked in
      guard asked.count == 2 else { return [.answer(asked.stream, 200)] }
      if handover.takeBack({ hasLeft.withLock { $0 = true } }) { hasLeft.withLock { $0 = true } }
      return [.goAway(last: 1)]
    }
    try await EngineWorld.run(script, limits: limits) { world in
      #expect(await Self.send(world.engine, 1, Handover()).status == 200)
      #expect(await Self.send(world.engine, 2, handover).failure?.code == .takenBack)
      #expect(world.peer.record.requests == 2 && hasLeft.withLock { $0 })
    }
  }

  @Test func `a push on a stream counts as sent once its bytes are written`() async throws {
    var (script, limits) = Self.oneStream
    let isAsked = Mutex(false)
    script.onRequest = { asked in
      guard asked.count == 2 else { return [.answer(asked.stream, 200)] }
      isAsked.withLock { $0 = true }
      return []
    }
    try await EngineWorld.run(script, limits: limits) { world in
      #expect(await Self.send(world.engine, 1, Handover()).status == 200)
      let handover = Handover()
      async let outcome = Self.send(world.engine, 2, handover, within: 2_000)
      while !isAsked.withLock({ $0 }) {
        try Task.checkCancellation()
        await Task.yield()
      }
      let hasLeft = Mutex(false)
      if handover.takeBack({ hasLeft.withLock { $0 = true } }) { hasLeft.withLock { $0 = true } }
      while !hasLeft.withLock({ $0 }) {
        try Task.checkCancellation()
        await Task.yield()
      }
      #expect(await outcome.failure?.code == .timeout, "the provider has it, and says nothing")
    }
  }

  @Test func `a browser's push that was taken back is not started`() async throws {
    let engine = WebEngine()
    let handover = Handover()
    #expect(handover.takeBack {})
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await engine.run() }
      let outcome: Outcome = await withCheckedContinuation { continuation in
        engine.send(within: .seconds(5), to: { "host" }, handover) {
          Issue.record("the request was made")
          return WebRequest(url: "http://127.0.0.1:1/x", headers: [], body: [1])
        } answer: {
          continuation.resume(returning: $0)
        }
      }
      if case .failed(let failure) = outcome {
        #expect(failure.code == .takenBack)
        #expect(
          WebPushVerdicts.verdict(failure)
            == .later(after: nil, .recalled, .init(failure.message)))
      } else {
        Issue.record("\(outcome)")
      }
      group.cancelAll()
    }
  }

  /// A verdict that blames the device would make its lane pause.
  @Test func `a push taken back in the other environment stays recalled`() {
    let recalled = Verdict.later(after: nil, .recalled, .init("taken back"))
    #expect(APNsVerdicts.elsewhere(recalled) == recalled)
  }
}

import RelayCore
import Testing

@testable import RelayPush

/// When the engine gives up a connection that the provider has not closed.
@Suite struct ReplacedConnectionTests {
  private static var limits: EngineLimits {
    var limits = EngineWorld.limits
    limits.connections = 1
    limits.attemptTimeout = .seconds(1)
    return limits
  }

  /// The peer's windows have no room for a body, so no request leaves whole but the first, which
  /// leaves before the peer's settings arrive. The peer answers pings all the time.
  @Test func `a connection that takes no whole request in time is replaced`() async throws {
    var script = ScriptedPeer.Script()
    script.window = 0
    try await EngineWorld.run(script, limits: Self.limits) { world in
      #expect(await world.send(1).first?.status == 200)
      #expect(await world.send(1).first?.failure?.code == .notTaken)
      #expect(await world.send(1).first?.status == 200)
      #expect(world.peer.record.connections == 2)
    }
  }

  /// nghttp2 ends a session after a GOAWAY and the end of its last stream. Here the engine ends
  /// that stream, because the request has no answer in time.
  @Test func `a GOAWAY and the end of the last stream are no fault`() async throws {
    var script = ScriptedPeer.Script()
    script.onRequest = { asked in
      asked.count == 2 ? [.goAway(last: .max >> 1)] : [.answer(asked.stream, 200)]
    }
    try await EngineWorld.run(script, limits: Self.limits) { world in
      #expect(await world.send(1).first?.status == 200)
      #expect(await world.send(1).first?.failure?.code == .timeout)
      #expect(await world.send(1).first?.status == 200)
      #expect(world.engine.status.lastError == nil)
    }
  }
}

import NIOCore
import NIOPosix
import RelayCore
import Synchronization
import Testing

@testable import RelayPush

@Suite(.serialized, .timeLimit(.minutes(1))) struct PushEngineTests {
  @Test func `every request gets its own answer`() async throws {
    var script = ScriptedPeer.Script()
    script.onRequest = { asked in
      asked.count % 7 == 0
        ? [.answer(asked.stream, 400, #"{"reason":"Seven"}"#)] : [.answer(asked.stream, 200)]
    }
    try await EngineWorld.run(script) { world in
      let outcomes = await world.send(2_000)
      #expect(outcomes.count { $0.status == 200 } == 2_000 - 2_000 / 7)
      let bodies = outcomes.compactMap { outcome -> String? in
        guard case .answered(let response) = outcome, response.status == 400 else { return nil }
        return String(decoding: response.body, as: UTF8.self)
      }
      #expect(bodies == Array(repeating: #"{"reason":"Seven"}"#, count: 2_000 / 7))
      #expect(world.peer.record.requests == 2_000)
      let status = world.engine.status
      #expect(status.sent == 2_000 && status.answered == 2_000)
      #expect(status.inFlight == 0 && status.waiting == 0)
      #expect(status.connections == 2 && status.lastError == nil)
    }
  }

  /// The frames of one loop turn share a write, which lowers the cost of a push from 60 µs to 4 µs.
  @Test func `the engine sends many requests in few writes`() async throws {
    try await EngineWorld.run { world in
      _ = await world.send(10)
      let before = world.engine.status.writes
      _ = await world.send(400)
      #expect(world.engine.status.writes - before < 100)
    }
  }

  /// APNs allows one stream on a new connection until APNs has accepted the credential.
  @Test func `a connection has one stream until an answer accepts the credential`() async throws {
    var script = ScriptedPeer.Script()
    let early = Mutex<[Int]>([])
    var limits = EngineWorld.limits
    limits.connections = 1
    script.onRequest = { asked in
      if asked.count <= 3 { early.withLock { $0.append(asked.open.count) } }
      return [.answer(asked.stream, asked.count < 3 ? 403 : 200)]
    }
    try await EngineWorld.run(script, limits: limits) { world in
      let outcomes = await world.send(50)
      #expect(outcomes.count { $0.status == 403 } == 2)
      #expect(early.withLock { $0 } == [1, 1, 1])
    }
  }

  /// The provider lowers its limit while requests are under way.
  @Test func `the engine obeys a provider's stream limit that shrinks`() async throws {
    var script = ScriptedPeer.Script()
    script.limit = 8
    var limits = EngineWorld.limits
    limits.connections = 1
    script.onRequest = { asked in
      let all = asked.open.map { ScriptedPeer.Reply.answer($0, 200) }
      switch asked.count {
      case 1: return all
      case 2..<9: return []
      case 9: return [.limit(2)] + all
      default: return asked.open.count == 2 ? all : []
      }
    }
    try await EngineWorld.run(script, limits: limits) { world in
      let outcomes = await world.send(1 + 8 + 20)
      #expect(outcomes.allSatisfy { $0.status == 200 })
      #expect(world.peer.record.mostOpen == [1: 2])
    }
  }

  /// The provider has not processed the streams above a GOAWAY's last id.
  @Test func `requests that a GOAWAY left unprocessed are sent on a new connection`() async throws {
    var script = ScriptedPeer.Script()
    var limits = EngineWorld.limits
    limits.connections = 1
    script.onRequest = { asked in
      guard asked.connection == 1, asked.count > 1 else { return [.answer(asked.stream, 200)] }
      // The first of a batch of ten is processed, the others are not.
      guard asked.open.count == 10 else { return [] }
      return [.goAway(last: asked.open[0]), .answer(asked.open[0], 200)]
    }
    try await EngineWorld.run(script, limits: limits) { world in
      _ = await world.send(1)
      let outcomes = await world.send(10)
      #expect(outcomes.allSatisfy { $0.status == 200 })
      #expect(world.engine.status.resent == 9)
      #expect(world.engine.status.goAways == 1)
      #expect(world.peer.record.connections == 2)
      #expect(world.peer.record.requests == 1 + 10 + 9)
    }
  }

  /// The peer's window has no room for a body, so no request leaves whole but the first, which
  /// leaves before the peer's settings arrive.
  @Test func `a request whose body never left counts as unsent`() async throws {
    var script = ScriptedPeer.Script()
    script.window = 0
    var limits = EngineWorld.limits
    limits.attemptTimeout = .seconds(1)
    try await EngineWorld.run(script, limits: limits) { world in
      #expect(await world.send(1).first?.status == 200)
      let failure = try #require(await world.send(1).first?.failure)
      #expect(failure.code == .notTaken)
      let reason = "timeout: no answer in time, and a part of the push had not left"
      #expect(failure.verdict == .later(after: nil, .unsent, .init(reason)))
      #expect(world.peer.record.requests == 1)
    }
  }

  @Test func `a request on a refused stream is sent again a limited number of times`() async throws
  {
    var script = ScriptedPeer.Script()
    script.onRequest = { asked in
      asked.count % 2 == 1 ? [.reset(asked.stream, code: 7)] : [.answer(asked.stream, 200)]
    }
    try await EngineWorld.run(script) { world in
      let outcomes = await world.send(20)
      #expect(outcomes.allSatisfy { $0.status == 200 })
      #expect(world.engine.status.resent > 0)
    }
    script.onRequest = { [.reset($0.stream, code: 7)] }
    var limits = EngineWorld.limits
    limits.resendsMax = 3
    try await EngineWorld.run(script, limits: limits) { world in
      let failure = try #require(await world.send(1).first?.failure)
      #expect(failure.code == .notTaken)
      #expect(failure.verdict == .later(after: nil, .unsent, .init("refused 4 times")))
      #expect(world.peer.record.requests == 4)
    }
  }

  @Test func `any other reset ends the attempt with a reset failure`() async throws {
    var script = ScriptedPeer.Script()
    script.onRequest = { [.reset($0.stream, code: 2)] }
    try await EngineWorld.run(script) { world in
      let failure = await world.send(1).first?.failure
      #expect(failure?.code == .reset)
      #expect(failure?.message == "reset by the provider: INTERNAL_ERROR")
    }
  }

  /// Some servers answer before they have read the whole request, and then reset the stream.
  @Test func `a reset after an answer does not change the answer`() async throws {
    var script = ScriptedPeer.Script()
    script.onRequest = { [.answer($0.stream, 200), .reset($0.stream, code: 0)] }
    try await EngineWorld.run(script) { world in
      #expect(await world.send(5).allSatisfy { $0.status == 200 })
    }
  }

  /// Every request has a deadline.
  @Test func `a request without an answer times out and frees its stream`() async throws {
    var script = ScriptedPeer.Script()
    script.limit = 1
    script.onRequest = { $0.count == 2 ? [] : [.answer($0.stream, 200)] }
    var limits = EngineWorld.limits
    limits.connections = 1
    limits.attemptTimeout = .seconds(1)
    try await EngineWorld.run(script, limits: limits) { world in
      #expect(await world.send(1).first?.status == 200)
      let failure = await world.send(1).first?.failure
      #expect(failure?.code == .timeout)
      #expect(await world.send(1).first?.status == 200)
      #expect(world.engine.status.timeouts == 1)
    }
  }

  /// The outcome of a request that is sent at the last moment would be unknown, and its repeat
  /// might be a second push.
  @Test func `a request with too little time left for an answer is not sent`() async throws {
    var script = ScriptedPeer.Script()
    script.limit = 1
    script.onRequest = { $0.count == 2 ? [] : [.answer($0.stream, 200)] }
    var limits = EngineWorld.limits
    limits.connections = 1
    limits.attemptTimeout = .seconds(4)
    try await EngineWorld.run(script, limits: limits) { world in
      #expect(await world.send(1).first?.status == 200)
      let outcomes = Gathered<Outcome>(count: 2)
      // The first request holds the only stream until the second has half a second left, which is
      // too little.
      world.engine.send(EngineWorld.request(0), until: .now + .seconds(2)) {
        outcomes.put(0, $0)
      }
      world.engine.send(EngineWorld.request(1), until: .now + Span(milliseconds: 2_500)) {
        outcomes.put(1, $0)
      }
      let ends = await outcomes.all()
      #expect(ends.map(\.failure?.code) == [.timeout, .unreachable])
      #expect(world.peer.record.requests == 2)
    }
  }

  /// Without the ping, every push on a stalled connection would fail at its deadline.
  @Test func `a stalled connection is pinged, closed and replaced`() async throws {
    var script = ScriptedPeer.Script()
    script.onRequest = { asked in
      asked.connection == 1 && asked.count == 2 ? [.fallSilent] : [.answer(asked.stream, 200)]
    }
    var limits = EngineWorld.limits
    limits.connections = 1
    limits.stallAfter = Span(milliseconds: 500)
    limits.pongWithin = Span(milliseconds: 500)
    try await EngineWorld.run(script, limits: limits) { world in
      #expect(await world.send(1).first?.status == 200)
      let failure = await world.send(1).first?.failure
      #expect(failure?.code == .lost)
      #expect(world.peer.record.pings >= 1)
      #expect(await world.send(1).first?.status == 200)
      #expect(world.peer.record.connections == 2)
    }
  }

  /// A slow answer on a connection whose peer answers pings is no stall.
  @Test func `a pong keeps a connection with a slow answer open`() async throws {
    var script = ScriptedPeer.Script()
    script.onRequest = { $0.count == 2 ? [] : [.answer($0.stream, 200)] }
    var limits = EngineWorld.limits
    limits.connections = 1
    limits.stallAfter = Span(milliseconds: 50)
    limits.pongWithin = .seconds(5)
    limits.attemptTimeout = .seconds(1)
    try await EngineWorld.run(script, limits: limits) { world in
      _ = await world.send(1)
      #expect(await world.send(1).first?.failure?.code == .timeout)
      #expect(world.peer.record.pings > 0)
      #expect(world.peer.record.connections == 1)
    }
  }

  /// The pings find a dead connection before the first push after a long idle time uses the
  /// connection.
  @Test func `an idle connection is pinged`() async throws {
    var limits = EngineWorld.limits
    limits.idlePing = Span(milliseconds: 20)
    limits.connections = 1
    var script = ScriptedPeer.Script()
    let (pings, pinged) = AsyncStream.makeStream(of: Void.self)
    script.onPing = { pinged.yield() }
    try await EngineWorld.run(script, limits: limits) { world in
      var seen = pings.makeAsyncIterator()
      for _ in 0..<3 { await seen.next() }
      #expect(world.peer.record.connections == 1)
      #expect(await world.send(1).first?.status == 200)
    }
  }

  @Test func `a broken connection is replaced, and its open requests are lost`() async throws {
    var script = ScriptedPeer.Script()
    script.onRequest = { $0.count == 2 ? [.hangUp] : [.answer($0.stream, 200)] }
    var limits = EngineWorld.limits
    limits.connections = 1
    try await EngineWorld.run(script, limits: limits) { world in
      #expect(await world.send(1).first?.status == 200)
      #expect(await world.send(1).first?.failure?.code == .lost)
      #expect(await world.send(1).first?.status == 200)
      #expect(world.engine.status.lost == 1)
    }
  }

  @Test func `the engine replaces a connection whose peer breaks the protocol`() async throws {
    var script = ScriptedPeer.Script()
    script.onRequest = { $0.count == 2 ? [.nonsense] : [.answer($0.stream, 200)] }
    var limits = EngineWorld.limits
    limits.connections = 1
    limits.attemptTimeout = .seconds(20)
    try await EngineWorld.run(script, limits: limits) { world in
      #expect(await world.send(1).first?.status == 200)
      let failure = await world.send(1).first?.failure
      #expect(failure?.code == .lost)
      #expect(await world.send(1).first?.status == 200)
      #expect(world.peer.record.connections == 2)
    }
  }

  /// The queue stays bounded while the provider cannot be reached.
  @Test func `without a connection a bounded number of requests wait for the deadline`()
    async throws
  {
    let certificate = try Certificate()
    let gone = try await ScriptedPeer(.init(), certificate: certificate)
    try await gone.close()
    var limits = EngineWorld.limits
    limits.attemptTimeout = Span(milliseconds: 100)
    limits.waitingMax = 30
    let engine = try PushEngine(
      EngineSettings(
        host: "127.0.0.1", port: gone.port, trustRoots: certificate.certificate, limits: limits),
      shape: EngineWorld.shape, group: MultiThreadedEventLoopGroup.singleton, logger: .quiet)
    try await EngineWorld.running(engine) {
      let outcomes = await EngineWorld.send(100, by: engine)
      #expect(outcomes.count { $0.failure?.code == .unreachable } >= 30)
      #expect(outcomes.count { $0.failure?.code == .full } > 0)
      #expect(outcomes.allSatisfy { $0.failure != nil })
      let failure = outcomes.first?.failure
      #expect(failure?.message.contains("unreachable") == true)
      #expect(failure?.message.contains("refused") == true)
      #expect(engine.status.waiting == 0)
      #expect(engine.status.lastError?.contains("refused") == true)
    }
  }

  @Test func `the failure says that the peer does not speak HTTP/2`() async throws {
    var script = ScriptedPeer.Script()
    script.protocols = ["http/1.1"]
    var limits = EngineWorld.limits
    limits.attemptTimeout = .seconds(3)
    try await EngineWorld.run(script, limits: limits) { world in
      let failure = await world.send(1).first?.failure
      #expect(failure?.code == .unreachable)
      let message = failure?.message ?? ""
      #expect(message.contains("does not speak HTTP/2"), "\(message)")
    }
  }

  @Test func `a peer with an untrusted certificate gets no request`() async throws {
    let (trusted, other) = (try Certificate(), try Certificate())
    let peer = try await ScriptedPeer(.init(), certificate: other)
    var limits = EngineWorld.limits
    limits.attemptTimeout = .seconds(3)
    let engine = try PushEngine(
      EngineSettings(
        host: "127.0.0.1", port: peer.port, trustRoots: trusted.certificate, limits: limits),
      shape: EngineWorld.shape, group: MultiThreadedEventLoopGroup.singleton, logger: .quiet)
    try await EngineWorld.running(engine) {
      let failure = await engine.send(EngineWorld.request()).failure
      #expect(failure?.code == .unreachable)
      #expect(failure?.message.contains("CERTIFICATE_VERIFY_FAILED") == true)
    }
    #expect(peer.record.requests == 0)
    try await peer.close()
  }

  @Test func `the end of the grace period cuts off a request without an answer`() async throws {
    var script = ScriptedPeer.Script()
    let held = Mutex<CheckedContinuation<Void, Never>?>(nil)
    script.onRequest = { asked in
      guard asked.count > 1 else { return [.answer(asked.stream, 200)] }
      held.withLock { $0.take() }?.resume()
      return []
    }
    let outcome = Gathered<Outcome>(count: 1)
    var limits = EngineWorld.limits
    limits.stopGrace = Span(milliseconds: 100)
    try await EngineWorld.run(script, limits: limits) { world in
      _ = await world.send(1)
      await withCheckedContinuation { continuation in
        held.withLock { $0 = continuation }
        world.engine.send(EngineWorld.request()) { outcome.put(0, $0) }
      }
    }
    // The provider never answered, so the grace ran out.
    #expect(await outcome.all().first?.failure?.code == .cutOff)
  }

  @Test func `a stopped engine answers each request with a failure`() async throws {
    let certificate = try Certificate()
    let engine = try PushEngine(
      EngineSettings(host: "127.0.0.1", port: 1, trustRoots: certificate.certificate),
      shape: EngineWorld.shape, group: MultiThreadedEventLoopGroup.singleton, logger: .quiet)
    try await EngineWorld.running(engine) {}
    let failure = await engine.send(EngineWorld.request()).failure
    #expect(failure?.code == .stopped)
    #expect(failure?.verdict == .later(after: nil, .recalled, .init(failure?.message ?? "")))
  }

  @Test func `the engine refuses a bad endpoint, bad trust roots and a bad limit`() throws {
    let group = MultiThreadedEventLoopGroup.singleton
    #expect {
      try PushEngine(
        EngineSettings(host: "", port: 443), shape: EngineWorld.shape, group: group,
        logger: .quiet)
    } throws: { ($0 as? PushProblem)?.code == .endpoint }
    #expect {
      try PushEngine(
        EngineSettings(host: "localhost", port: 443, trustRoots: "/nowhere/ca.pem"),
        shape: EngineWorld.shape, group: group, logger: .quiet)
    } throws: { ($0 as? PushProblem)?.code == .trustRoots }
    var limits = EngineLimits()
    limits.connections = 0
    #expect {
      try PushEngine(
        EngineSettings(host: "localhost", port: 443, limits: limits), shape: EngineWorld.shape,
        group: group, logger: .quiet)
    } throws: { ($0 as? PushProblem)?.code == .limit }
  }
}

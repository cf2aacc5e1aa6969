import Logging
import NIOPosix
import RelayCore
import Synchronization

@testable import RelayPush

/// A scripted peer, an engine that connects to the peer, and requests to send.
struct EngineWorld: Sendable {
  let peer: ScriptedPeer
  let engine: PushEngine

  static let shape = RequestShape(
    fields: [.init("authorization", repeats: true), .init("x-id", repeats: false)],
    kept: ["retry-after"], probation: true)

  /// Limits with short waits, so that the tests are fast.
  static var limits: EngineLimits {
    var limits = EngineLimits()
    limits.attemptTimeout = .seconds(5)
    limits.stallAfter = .seconds(60)
    limits.reconnectFirst = Span(milliseconds: 1)
    limits.reconnectMax = Span(milliseconds: 20)
    limits.stopGrace = Span(milliseconds: 500)
    return limits
  }

  static func run(
    _ script: ScriptedPeer.Script = .init(), limits: EngineLimits = EngineWorld.limits,
    shape: RequestShape = EngineWorld.shape,
    _ body: @Sendable @escaping (EngineWorld) async throws -> Void
  ) async throws {
    let certificate = try Certificate()
    let peer = try await ScriptedPeer(script, certificate: certificate)
    let engine = try PushEngine(
      EngineSettings(
        host: "127.0.0.1", port: peer.port, trustRoots: certificate.certificate, limits: limits),
      shape: shape, group: MultiThreadedEventLoopGroup.singleton, logger: .quiet)
    try await running(engine) { try await body(EngineWorld(peer: peer, engine: engine)) }
    try await peer.close()
  }

  /// Runs the engine beside `body`, then cancels the engine and waits until the engine has ended.
  static func running(
    _ engine: PushEngine, _ body: @Sendable @escaping () async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await engine.run() }
      do {
        try await body()
      } catch {
        group.cancelAll()
        throw error
      }
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  static func request(_ number: Int = 1, shape: RequestShape = EngineWorld.shape) -> Request {
    Request(shape, valueBytes: 100, body: Array("{\"n\":\(number)}".utf8)) { values in
      values.write("/push")
      values.end()
      values.skip()
      values.write("\(number)")
      values.end()
    }
  }

  /// Sends `count` requests at once, and returns their outcomes in the order sent.
  func send(_ count: Int) async -> [Outcome] {
    await Self.send(count, by: engine)
  }

  static func send(_ count: Int, by engine: PushEngine) async -> [Outcome] {
    let outcomes = Gathered<Outcome>(count: count)
    for number in 0..<count {
      engine.send(request(number)) { outcomes.put(number, $0) }
    }
    return await outcomes.all()
  }
}

/// Collects `count` answers from any threads. A second answer for the same place stops the test.
final class Gathered<Value: Sendable>: Sendable {
  private struct State {
    var values: [Value?]
    var missing: Int
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state: Mutex<State>

  init(count: Int) {
    state = Mutex(State(values: Array(repeating: nil, count: count), missing: count))
  }

  func put(_ index: Int, _ value: Value) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      precondition(state.values[index] == nil, "answered twice")
      state.values[index] = value
      state.missing -= 1
      guard state.missing == 0 else { return nil }
      return state.waiter.take()
    }
    waiter?.resume()
  }

  func all() async -> [Value] {
    await withCheckedContinuation { continuation in
      let isComplete = state.withLock { state in
        if state.missing > 0 { state.waiter = continuation }
        return state.missing == 0
      }
      if isComplete { continuation.resume() }
    }
    return state.withLock { $0.values.compactMap { $0 } }
  }
}

extension Outcome {
  var status: Int? { if case .answered(let response) = self { response.status } else { nil } }
  var failure: TransportFailure? {
    if case .failed(let failure) = self { failure } else { nil }
  }
}

extension Logger {
  /// A silent logger, because tests provoke what a log would warn of.
  static var quiet: Logger { Logger(label: "push.tests") { _ in SwiftLogNoOpLogHandler() } }
}

extension PushEngine {
  func send(_ request: Request) async -> Outcome {
    await withCheckedContinuation { continuation in
      send(request) { continuation.resume(returning: $0) }
    }
  }
}

import Foundation
import NIOPosix
import RelayCore
import RelayEngine
import RelayStandin
import Synchronization

@testable import RelayPush

/// A running APNs stand-in with a sender for it.
struct StandinWorld: Sendable {
  let directory: String
  let port: Int
  let sender: APNsSender
  let clock: TestClock

  /// - Parameter other: the directory of another stand-in, whose provider key the new stand-in
  ///   accepts.
  static func run(
    goawayEvery: Int? = nil, resetEvery: Int? = nil, maxStreams: Int = 1_000,
    limits: EngineLimits = EngineWorld.limits, environment: String? = nil,
    clientTopics: [String] = [], keyOf other: String? = nil,
    _ body: @Sendable @escaping (StandinWorld) async throws -> Void
  ) async throws {
    let directory = FileManager.default.temporaryDirectory
      .appending(path: "relay-push-\(UUID().uuidString)").path()
    defer {
      // A temporary directory that is left behind does no harm.
      try? FileManager.default.removeItem(atPath: directory)
    }
    if let other {
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        atPath: "\(other)/AuthKey.p8", toPath: "\(directory)/AuthKey.p8")
    }
    let standin = try await APNsStandin(
      StandinSettings(
        directory: directory, goawayEvery: goawayEvery, resetEvery: resetEvery,
        maxStreams: maxStreams, environment: environment, clientTopics: clientTopics))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await standin.run() }
      let clock = TestClock()
      let sender = try await sender(
        directory: directory, port: standin.port, limits: limits, clock: clock)
      let world = StandinWorld(
        directory: directory, port: standin.port, sender: sender, clock: clock)
      try await running(sender) { try await body(world) }
      group.cancelAll()
    }
  }

  static func running(
    _ sender: APNsSender, _ body: @Sendable @escaping () async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await sender.run() }
      try await body()
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  static func sender(
    directory: String, port: Int, keyID: String = "ABCDE12345", limits: EngineLimits,
    clock: TestClock
  ) async throws -> APNsSender {
    let pem = try String(contentsOfFile: "\(directory)/AuthKey.p8", encoding: .utf8)
    let key = try APNsSettings.Key(pem: pem, keyID: keyID, teamID: "TEAM123456")
    let settings = try APNsSettings(
      .init(host: "127.0.0.1", port: port), topic: "com.example.notes", credential: .key(key),
      trustRoots: "\(directory)/ca.pem", limits: limits)
    return try await APNsSender(
      settings, credential: APNsCredential(key), group: MultiThreadedEventLoopGroup.singleton,
      logger: .quiet, now: { clock.now })
  }

  struct Line: Decodable {
    var connection: Int
    var path: String
    var headers: [String: String]
    var status: Int
    var reason: String?
    var id: String { headers["apns-id"] ?? "" }
  }

  /// The stand-in's log.
  func lines() throws -> [Line] {
    try String(contentsOfFile: "\(directory)/pushes.jsonl", encoding: .utf8)
      .split(separator: "\n")
      .map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
  }
}

/// The relay's clock, which a test may set.
final class TestClock: Sendable {
  private let offset = Mutex(Span.zero)

  var now: Instant {
    let seconds = Date().timeIntervalSince1970
    return Instant(milliseconds: Int64(seconds * 1_000)) + offset.withLock { $0 }
  }

  func shift(by span: Span) { offset.withLock { $0 = span } }
}

extension APNsSender {
  func send(_ push: Push) async -> Verdict {
    await withCheckedContinuation { continuation in
      send(push) { continuation.resume(returning: $0) }
    }
  }

  /// Sends `count` pushes, never more than `width` at once. Returns the verdicts in the order sent.
  func send(_ count: Int, width: Int, _ push: @Sendable @escaping (Int) -> Push) async -> [Verdict]
  {
    let line = SendingLine(sender: self, count: count, push: push)
    for _ in 0..<min(width, count) { line.next() }
    return await line.verdicts.all()
  }
}

private final class SendingLine: Sendable {
  let verdicts: Gathered<Verdict>
  private let sender: APNsSender
  private let count: Int
  private let push: @Sendable (Int) -> Push
  private let sent = Mutex(0)

  init(sender: APNsSender, count: Int, push: @Sendable @escaping (Int) -> Push) {
    self.sender = sender
    self.count = count
    self.push = push
    verdicts = Gathered(count: count)
  }

  func next() {
    let number = sent.withLock { sent in
      defer { sent += 1 }
      return sent
    }
    guard number < count else { return }
    sender.send(push(number)) { verdict in
      self.verdicts.put(number, verdict)
      self.next()
    }
  }
}

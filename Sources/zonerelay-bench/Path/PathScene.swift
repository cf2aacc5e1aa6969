import Foundation
import NIOCore
import RelayWire

/// A daemon and its APNs stand-in, with users who have a phone each. Each event for a user leads to
/// one push.
struct PathScene {
  let daemon: MeasuredDaemon
  private let standin: Standin
  private let tail: PushTail
  private let users: Int
  private static let connections = 50

  /// Starts the programs and returns when the setup of the users has been folded.
  ///
  /// - Parameter name: distinguishes scenes that run at the same time.
  static func start(
    _ bench: Workbench, name: String = "path", users: Int, settings: String = ""
  ) async throws -> PathScene {
    let standin = try await Standin.start(bench, name: "\(name)-apns")
    let daemon = try await MeasuredDaemon.start(
      bench, name: name, apns: standin.route, settings: settings)
    try await Enrolment.run(0..<users, on: daemon) { user in
      let token = Enrolment.token(user)
      return [
        Enrolment.device(user, token: token),
        Enrolment.subscription(to: "private", token: token),
      ]
    }
    try await daemon.settle()
    return PathScene(
      daemon: daemon, standin: standin, tail: try PushTail(standin.pushes), users: users)
  }

  /// Ends the programs. Throws unless each user got exactly one push, and the ledger balances.
  func end() async throws {
    guard try await daemon.status().ledger.balanced else {
      throw BenchError("the ledger does not balance after the pushes")
    }
    try await daemon.stop()
    let pushes = standin.count
    guard pushes == users else { throw BenchError("\(pushes) pushes for \(users) changes") }
    _ = try await standin.child.stop()
  }

  /// Posts an event for each of the users, from 50 connections.
  ///
  /// - Parameter eventsEach: how many events a request has.
  /// - Returns: the daemon's CPU time from the first request until all pushes are taken and all
  ///   folds are written.
  func cost(of users: Range<Int>, eventsEach: Int) async throws -> CPUTime {
    var writer = EventWriter(run: "path-\(users.lowerBound)")
    let requests = writer.requests(users.map(Self.subject), eventsEach: eventsEach)
    let outbox = Outbox(requests, eventsEach: eventsEach)
    let exchange = try await daemon.connect(
      outbox.producers(min(Self.connections, requests.count)))
    let before = try daemon.child.cpu()
    async let pushes = tail.next(users.count, within: .seconds(60))
    try await exchange.run(within: .seconds(60))
    _ = try await pushes
    try await daemon.settle()
    return try daemon.child.cpu() - before
  }

  /// Posts an event for each of the users, one after another.
  ///
  /// - Returns: the times from the answer to an event until its push.
  func latencies(of users: Range<Int>) async throws -> Latencies {
    var writer = EventWriter(run: "idle")
    let requests = writer.requests(users.map(Self.subject), eventsEach: 1)
    // Each event is sent 50 ms after the last answer, so that the relay is idle before each event.
    let caller = PacedProducer(requests) { _, _ in .now() + .milliseconds(50) }
    let exchange = try await daemon.connect([caller])
    async let pushes = tail.next(users.count, within: .seconds(60))
    try await exchange.run(within: .seconds(60))
    var latencies = Latencies()
    for (accepted, pushed) in zip(caller.accepted, try await pushes) {
      // A push may be sent before the producer has read its answer.
      latencies.add(nanoseconds: max(0, (pushed - accepted).nanoseconds))
    }
    return latencies
  }

  private static func subject(_ user: Int) -> EventWriter.Subject {
    EventWriter.Subject(user: Enrolment.name(user), zone: "Notes", record: "record-1")
  }
}

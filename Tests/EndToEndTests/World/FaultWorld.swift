import Foundation
import RelayCurl
import Synchronization

/// A daemon with two routes to Apple. One route has one fault after another, and the other route
/// must stay unaffected.
struct FaultWorld: Sendable {
  static let healthyTopic = "com.example.neighbour"
  /// Seconds. Tests calculate from these times how soon phones must be woken after a fault. By
  /// default the configuration has the same values, except `windowMax`, which is 2 s there.
  static let attemptTimeout = 1.0, retryMax = 1.0, probe = 0.5, windowMax = 0.2

  let workplace: Workplace
  let daemon: RunningDaemon
  let broken: OtherStandin
  let healthy: OtherStandin
  let phones: [Phone]
  let neighbours: [Phone]

  /// - Parameters:
  ///   - attempt: the timeout of an attempt, longer than a second in large worlds.
  ///   - quarantine: the time for which devices rest in quarantine.
  ///   - budget: background wakes an hour.
  ///   - environment: one more line of the environment's configuration.
  static func start(
    in workplace: Workplace, phones count: Int, neighbours: Int, attempt: String = "1s",
    quarantine: String = "5m", budget: Int = 1_000, environment: String = "",
    token: @Sendable @escaping (Int) -> String = FaultWorld.token
  ) async throws -> FaultWorld {
    let broken = try await OtherStandin.start(
      "apns-standin", in: workplace, place: "apns", port: workplace.standinPort,
      ["--control", workplace.file("faults.sock").path])
    let healthy = try await OtherStandin.start(
      "apns-standin", in: workplace, place: "neighbour")
    try workplace.configure(
      window: "50ms",
      extra: """
        wake: { attemptTimeout: \(attempt), retryFirst: 100ms, retryMax: 1s, probe: 500ms, \
        quarantine: \(quarantine) }
        budget: { background: { max: \(budget), per: 1h } }
        """,
      environment: environment,
      route: "topic: \(healthyTopic), key: { path: \(healthy.directory.path)/AuthKey.p8, "
        + "keyID: NEIGHBOUR1, teamID: TEAM654321 }, endpoint: 'https://127.0.0.1:\(healthy.port)', "
        + "trustRoots: \(healthy.directory.path)/ca.pem")
    let daemon = try await RunningDaemon.start(in: workplace)
    let made = try await register(count) { number in
      Phone(
        daemon.web, user: "_p\(number)", in: workplace, pushToken: token(number),
        topic: Workplace.topic)
    }
    let others = try await register(neighbours) { number in
      Phone(
        daemon.web, user: "_n\(number)", in: workplace, pushToken: String(format: "b%063x", number),
        topic: healthyTopic)
    }
    return FaultWorld(
      workplace: workplace, daemon: daemon, broken: broken, healthy: healthy, phones: made,
      neighbours: others)
  }

  /// Registers phones, each with its own user and zone.
  private static func register(
    _ count: Int, _ make: @Sendable @escaping (Int) -> Phone
  ) async throws -> [Phone] {
    let workers = 16
    return try await withThrowingTaskGroup(of: [(Int, Phone)].self) { group in
      for worker in 0..<workers {
        group.addTask {
          var made: [(Int, Phone)] = []
          for number in stride(from: worker, to: count, by: workers) {
            let phone = make(number)
            try await phone.register()
            try await phone.subscribe(toZone: "Z")
            made.append((number, phone))
          }
          return made
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  /// A push token whose first four digits differ for each of 256 phones.
  @Sendable static func token(_ number: Int) -> String {
    String(format: "a5%02x", number) + String(repeating: "0", count: 60)
  }

  func stop() async -> Program.Ended {
    let ended = await daemon.stop()
    broken.stop()
    healthy.stop()
    return ended
  }

  /// Sets the faults of the broken route; an empty text ends them.
  func set(_ faults: String) async throws {
    let answer = try await HTTPClient().send(
      HTTPRequest(
        "PUT", "http://standin/faults", body: [UInt8](faults.utf8), timeout: .seconds(10),
        unixSocket: workplace.file("faults.sock").path))
    guard answer.status == 200 else {
      throw TestFailure("faults: \(String(decoding: answer.body, as: UTF8.self))")
    }
  }

  /// The time before a change was sent, and the time after its 202 was read. A wake for the change
  /// comes after `asked`, and on a busy machine perhaps before `accepted`.
  struct Reported {
    var asked = 0.0
    var accepted = 0.0
  }

  /// Reports a change for each of these phones.
  @discardableResult
  func change(_ phones: [Phone], _ producer: inout Producer) async throws -> Reported {
    let events = phones.map { phone in
      producer.event("updated", record: "R", zone: "Z", user: phone.user)
    }
    let asked = Date().timeIntervalSince1970
    let answer = try await producer.post(events)
    guard answer.status == 202, answer.json["accepted"].int == phones.count else {
      throw TestFailure("change: \(answer.status) \(answer.json)")
    }
    return Reported(asked: asked, accepted: Date().timeIntervalSince1970)
  }

  func route(_ topic: String, of status: JSON) -> JSON {
    status["routes"].array.first { $0["topic"].string == topic } ?? JSON(nil)
  }
}

/// Durations in milliseconds, and their percentiles.
struct Latencies {
  private(set) var sorted: [Double]

  init(_ seconds: [Double]) { sorted = seconds.map { $0 * 1_000 }.sorted() }

  func percentile(_ percent: Double) -> Double {
    guard !sorted.isEmpty else { return 0 }
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * percent / 100))]
  }

  var text: String {
    String(format: "p50 %.0f ms, p99 %.0f ms (%d)", percentile(50), percentile(99), sorted.count)
  }
}

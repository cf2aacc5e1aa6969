import Foundation
import Testing

/// The built daemon with one provider that has one fault after another, and a second provider
/// without faults.
///
/// After each fault every phone with something pending is woken within the bound of
/// docs/operations.md. A wake is delivered twice only if its first push ended without an answer.
/// The ledger balances, and the phones of the other route are woken as before.
@Suite(.serialized) struct FaultTests {
  struct Fault: Sendable, CustomStringConvertible {
    var name: String
    /// The faults to set on the stand-in.
    var faults: String
    /// One of these texts is in the route's last error while the fault lasts. For an empty list the
    /// test does not check the last error.
    var trouble: [String] = []
    /// True if the route's status must show no error while the fault lasts. For the other faults
    /// without `trouble` the status may show an error or not, depending on the machine's speed.
    var isUnseen = false
    /// Seconds of waiting that the provider asks for, which are added to the bound.
    var asks = 0.0
    var description: String { name }
  }

  private static let faults: [Fault] = [
    Fault(name: "GOAWAY mid-burst", faults: "goaway every=50", isUnseen: true),
    // A hundred phones need six connections, one after another, and an attempt lasts one second at
    // most: on a slow machine some of the pushes have no answer in time.
    Fault(name: "GOAWAY after GOAWAY", faults: "goaway every=20"),
    Fault(name: "graceful GOAWAY", faults: "goaway", isUnseen: true),
    Fault(name: "silence", faults: "silence", trouble: ["no answer", "unreachable"]),
    Fault(name: "stream resets", faults: "reset", trouble: ["reset by the provider"]),
    Fault(name: "TCP resets", faults: "hangup", trouble: ["connection lost", "unreachable"]),
    Fault(
      name: "429 storm", faults: "answer 429 retry-after=1", trouble: ["TooManyRequests"], asks: 1),
    Fault(name: "503", faults: "answer 503", trouble: ["ServiceUnavailable"]),
    Fault(name: "500", faults: "answer 500", trouble: ["InternalServerError"]),
    Fault(name: "shrinking limits", faults: "streams 1; slow 20ms"),
    Fault(name: "no streams", faults: "streams 0", trouble: ["no free stream"]),
    Fault(name: "slow answers", faults: "slow 1500ms", trouble: ["timeout", "no answer"]),
    Fault(name: "slow TLS", faults: "handshake 700ms; goaway every=40"),
    Fault(name: "410, older than the registration", faults: "answer 410 age=30d tokens=a50"),
    Fault(
      name: "wrong credential", faults: "answer InvalidProviderToken",
      trouble: ["InvalidProviderToken"]),
    Fault(
      name: "expired credential", faults: "answer ExpiredProviderToken",
      trouble: ["ExpiredProviderToken"]),
    Fault(
      name: "token updates", faults: "answer TooManyProviderTokenUpdates",
      trouble: ["TooManyProviderTokenUpdates"]),
    Fault(name: "blackhole", faults: "blackhole", trouble: ["no answer", "unreachable"]),
    Fault(name: "refused connections", faults: "refuse", trouble: ["lost", "unreachable"]),
  ]

  /// The number of seconds after the end of the fault within which the last phone must be woken: an
  /// attempt that was under way, then its lane's rest or two probes, whichever is longer, then the
  /// window. The test adds `slack` to this number for a busy machine.
  static func bound(_ fault: Fault) -> Double {
    FaultWorld.attemptTimeout + FaultWorld.windowMax + fault.asks
      + max(1.2 * FaultWorld.retryMax, 2 * FaultWorld.probe + FaultWorld.attemptTimeout)
  }
  private static let slack = 1.0

  @Test func `every phone is woken within the bound after each provider fault`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let world = try await FaultWorld.start(in: workplace, phones: 100, neighbours: 20)
    var course = Course(world)
    try await course.warmUp()
    var table = ["fault | woken after | bound | pushes | neighbour"]
    let quiet = try await course.run(seconds: 3)
    table.append("none | - | - | - | \(quiet.text)")
    var beside: [Double] = []
    for fault in Self.faults {
      let measured = try await course.measure(fault)
      beside += measured.neighbour.sorted
      table.append(
        String(
          format: "%@ | %.1f s | %.1f s | %d | %@", fault.name, measured.recovery,
          Self.bound(fault), measured.pushes, measured.neighbour.text))
      #expect(measured.recovery <= Self.bound(fault) + Self.slack, "\(fault.name)")
      #expect(measured.late.isEmpty, "\(fault.name): never woken: \(measured.late.prefix(5))")
      #expect(measured.doubled.isEmpty, "\(fault.name): \(measured.doubled.prefix(5))")
    }
    let all = Latencies(beside.map { $0 / 1_000 })
    table.append("all together | - | - | - | \(all.text)")
    print(table.joined(separator: "\n"))
    // The latency stays the same, apart from the effect of other load on the machine.
    #expect(all.percentile(50) <= 2 * quiet.percentile(50) + 20)
    #expect(all.percentile(99) <= 3 * quiet.percentile(99) + 100)
    let status = try await world.daemon.status()
    #expect(status["lanes"]["retired"].int == 0)
    #expect(status["healthy"].bool == true, "\(status["reasons"])")
    #expect(await world.stop().status == 0)
  }
}

/// Continuous changes during all faults, and their results.
private struct Course {
  struct Measured {
    var recovery = 0.0
    var pushes = 0
    /// Phones that were not woken for their last change.
    var late: [String] = []
    var doubled: [String] = []
    var neighbour = Latencies([])
  }

  let world: FaultWorld
  private var producer: Producer
  private var tail: PushTail
  private var neighbourTail: PushTail
  private var changes = 0
  private var lastChange = FaultWorld.Reported()
  private var nextNeighbour = 0

  init(_ world: FaultWorld) {
    self.world = world
    producer = Producer(world.daemon.web, key: world.workplace.producerKey)
    tail = PushTail(world.broken)
    neighbourTail = PushTail(world.healthy)
  }

  mutating func warmUp() async throws {
    try await world.change(world.phones + world.neighbours, &producer)
    try await settle()
  }

  /// Reports changes for all phones of the broken route, and for one healthy phone after another.
  ///
  /// - Returns: for the healthy route, the times from a change's acceptance to its push.
  mutating func run(seconds: Double) async throws -> Latencies {
    let end = ContinuousClock.now + .seconds(seconds)
    var asked: [Question] = []
    var round = 0
    while ContinuousClock.now < end {
      if round.isMultiple(of: 5) {
        lastChange = try await world.change(world.phones, &producer)
        changes += 1
      }
      let neighbour = world.neighbours[nextNeighbour % world.neighbours.count]
      asked.append(
        Question(
          token: neighbour.pushToken, change: try await world.change([neighbour], &producer)))
      nextNeighbour += 1
      round += 1
      for _ in 0..<4 { await Pause.short() }
    }
    return try await latencies(asked)
  }

  private struct Question {
    var token: String
    var change: FaultWorld.Reported
  }

  private mutating func latencies(_ asked: [Question]) async throws -> Latencies {
    var seconds: [Double] = []
    let end = ContinuousClock.now + .seconds(10)
    for question in asked {
      while true {
        if let push = neighbourTail.pushes.first(where: {
          $0.token == question.token && $0.time >= question.change.asked
        }) {
          seconds.append(max(0, push.time - question.change.accepted))
          break
        }
        guard ContinuousClock.now < end else { throw TestFailure("a neighbour was not woken") }
        await Pause.short()
        try neighbourTail.read()
      }
    }
    return Latencies(seconds)
  }

  /// Runs a burst, sets the fault, makes more changes, ends the fault, and measures the time until
  /// all phones are woken.
  mutating func measure(_ fault: FaultTests.Fault) async throws -> Measured {
    var measured = Measured()
    // First waits until no earlier change pends. So every push after `start` is for this
    // measurement.
    try await settle()
    try tail.read()
    let start = tail.pushes.count
    let unanswered = try await world.daemon.unanswered()
    changes = 1
    lastChange = try await world.change(world.phones, &producer)
    try await world.set(fault.faults)
    measured.neighbour = try await run(seconds: 2)
    try await checkStatus(during: fault)
    try await world.set("")
    let ended = Date().timeIntervalSince1970
    try await settle()
    try tail.read()
    let after = tail.pushes[start...]
    measured.pushes = after.count
    for phone in world.phones {
      let woken = after.first {
        $0.token == phone.pushToken && $0.status == 200 && $0.time >= lastChange.asked
      }
      guard let woken else {
        measured.late.append(phone.pushToken)
        continue
      }
      measured.recovery = max(measured.recovery, woken.time - ended)
    }
    measured.doubled = tail.doubled(
      since: start, changes: changes,
      unanswered: try await world.daemon.unanswered() - unanswered)
    return measured
  }

  /// Checks what `status` shows of the broken route while the fault lasts.
  private func checkStatus(during fault: FaultTests.Fault) async throws {
    guard fault.isUnseen || !fault.trouble.isEmpty else { return }
    let route = world.route(Workplace.topic, of: try await world.daemon.control("/status"))
    if fault.isUnseen {
      guard route["circuit"].string == "closed", route["lastError"].isNull else {
        throw TestFailure("\(fault.name): status shows trouble: \(route)")
      }
    } else {
      let said = route["lastError"].string ?? ""
      guard fault.trouble.contains(where: said.contains) else {
        throw TestFailure("\(fault.name): status says \"\(said)\"")
      }
    }
  }

  /// Waits until nothing is pending and the daemon is healthy. Then checks that the ledger
  /// balances, and that the broken route's circuit is closed and shows no error.
  private func settle() async throws {
    var status = JSON(nil)
    let isSettled = try await Pause.until(seconds: 20) {
      status = try await world.daemon.control("/status")
      return status["ledger"]["pending"].int == 0 && status["lanes"]["inFlight"].int == 0
        && status["healthy"].bool == true
    }
    guard isSettled else {
      throw TestFailure("not settled: \(status["ledger"]) \(status["lanes"]) \(status["routes"])")
    }
    guard status["ledger"]["balanced"].bool == true else {
      throw TestFailure("\(status["ledger"])")
    }
    let route = world.route(Workplace.topic, of: status)
    guard route["circuit"].string == "closed", route["lastError"].isNull else {
      throw TestFailure("the route is not well: \(route)")
    }
  }
}

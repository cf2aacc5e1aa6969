import Foundation
import Testing

/// Kills the built daemon with `kill -9`, again and again, while it writes accepted changes to
/// files.
@Suite(.serialized) struct CrashTests {
  /// The number of kills. `ZONERELAY_KILLS=200` sets it for the long run.
  static var kills: Int { Int(ProcessInfo.processInfo.environment["ZONERELAY_KILLS"] ?? "") ?? 4 }

  /// Every change answered 202 is in the feeds after the restart, and a phone with something
  /// pending is woken (P1, P5). The producer repeats unanswered events under the same ids, and the
  /// relay takes each exactly once.
  @Test func `every answered change survives kills of the daemon`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let standin = try await Standin.start(in: workplace)
    defer { standin.stop() }
    try workplace.configure(
      window: "50ms",
      extra: "budget: { background: { max: 1000, per: 1m, adapt: false } }")
    var daemon = try await RunningDaemon.start(in: workplace)
    let user = "_abc"
    var phone = Phone(
      daemon.web, user: user, in: workplace, pushToken: String(repeating: "ab", count: 32))
    try await phone.register()
    try await phone.subscribe(toZone: "Crash")
    // This phone never fetches, so every answered change must wake it.
    let sleeper = Phone(
      daemon.web, user: user, in: workplace, pushToken: String(repeating: "5e", count: 32))
    try await sleeper.register()
    var moments = SystemRandomNumberGenerator()
    var producer = Producer(daemon.web, key: workplace.producerKey)
    var unanswered: [[String: Any]] = []

    for round in 1...Self.kills {
      let wakesBefore = try standin.pushes(to: sleeper.pushToken).count
      // Changes that were durable but not answered woke the sleeping phone after the previous kill,
      // so the relay need not wake that phone for them again.
      let repeated = Set(unanswered.compactMap(Load.recordName))
      let load = Load(
        producer: producer, user: user, again: unanswered,
        until: .now + .milliseconds(Int.random(in: 20...400, using: &moments)))
      let outcome = try await load.run { await daemon.kill() }
      producer = outcome.producer
      unanswered = outcome.unanswered
      daemon = try await RunningDaemon.start(in: workplace)
      try await phone.catchUp(page: 50)
      let known = phone.zones["Crash"] ?? [:]
      let lost = outcome.answered.filter { known[$0] == nil }
      #expect(lost.isEmpty, "round \(round): lost \(lost.prefix(5)) of \(outcome.answered.count)")
      if !outcome.answered.isEmpty {
        let isTold = try await Pause.until {
          let status = try await daemon.status()
          return status["ledger"]["pending"].int == 0
        }
        #expect(isTold, "round \(round): something still pends")
        let wakes = try standin.pushes(to: sleeper.pushToken).count
        #expect(
          wakes > wakesBefore || repeated.isSuperset(of: outcome.answered),
          "round \(round): answered changes did not wake the sleeping phone")
      }
      #expect(try await daemon.status()["ledger"]["balanced"].bool == true)
    }
    if !unanswered.isEmpty { #expect(try await producer.post(unanswered).status == 202) }
    try await phone.catchUp(page: 200)
    #expect(phone.zones == producer.net)
    #expect(await daemon.stop().status == 0)
  }

  /// A phone that fetches nothing after the crash is woken for the changes that were pending before
  /// the crash.
  @Test func `changes that are pending at a kill wake the device after the restart`() async throws {
    let (workplace, standin) = try await Workplace.withStandin(window: "2s")
    defer { workplace.remove() }
    var daemon = try await RunningDaemon.start(in: workplace)
    let phone = Phone(
      daemon.web, user: "_abc", in: workplace, pushToken: String(repeating: "cd", count: 32))
    try await phone.register()
    try await phone.subscribe(toZone: "Crash")
    var producer = Producer(daemon.web, key: workplace.producerKey)
    let event = producer.event("created", record: "A", zone: "Crash", user: "_abc")
    #expect(try await producer.post([event]).status == 202)
    await daemon.kill()
    #expect(try standin.pushes(to: phone.pushToken).isEmpty)
    daemon = try await RunningDaemon.start(in: workplace)
    let isWoken = try await Pause.until { try !standin.pushes(to: phone.pushToken).isEmpty }
    #expect(isWoken)
    #expect(await daemon.stop().status == 0)
  }
}

/// A producer that posts again after each answer, until the daemon is killed.
struct Load {
  var producer: Producer
  var user: String
  /// Events that got no answer because of a kill. The test sends these events again first, under
  /// the same ids.
  var again: [[String: Any]]
  var until: ContinuousClock.Instant

  struct Outcome {
    var producer: Producer
    var answered: [String]
    var unanswered: [[String: Any]]
  }

  func run(_ kill: () async -> Void) async throws -> Outcome {
    var outcome = Outcome(producer: producer, answered: [], unanswered: [])
    var batch = again
    while true {
      while batch.count < 20 {
        let name = "R\(outcome.producer.count + 1)"
        batch.append(
          outcome.producer.event("created", record: name, zone: "Crash", user: user))
      }
      if ContinuousClock.now >= until {
        // The kill happens while a request is on its way.
        let (web, key) = (outcome.producer.web, outcome.producer.key)
        let body = try Producer.encode(batch)
        async let posted = try? Producer.send(body, to: web, key: key)  // The kill may end `send`.
        await kill()
        let answer = await posted
        if answer?.status == 202 {
          outcome.answered += batch.compactMap(Self.recordName)
        } else {
          outcome.unanswered = batch
        }
        return outcome
      }
      // After a refusal the producer sends the same batch again.
      if let answer = try? await outcome.producer.post(batch), answer.status == 202 {
        outcome.answered += batch.compactMap(Self.recordName)
        batch = []
      }
    }
  }

  static func recordName(_ event: [String: Any]) -> String? {
    JSON(event)["data"]["record"]["recordName"].string
  }
}

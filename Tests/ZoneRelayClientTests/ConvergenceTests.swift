import Foundation
import Testing
import ZoneRelayTesting
@testable import ZoneRelayClient

@Suite struct ConvergenceTests {
  private static let zones = [
    ZoneID(name: "Notes", owner: "_alice"), ZoneID(name: "Work", owner: "_alice"),
    ZoneID(name: "Plans", owner: "_bob"),
  ]

  /// Random changes, faults of the network, tokens that expire, apps that end at any save, users
  /// who sign out and in: when the faults have ended, one fetch makes every copy equal.
  @Test func `after two hundred seeds of faults every copy equals the relay`() async throws {
    var (failures, copies) = (0, 0)
    for seed in 1...200 {
      var random = SeededRandom(seed: UInt64(seed))
      let relay = InMemoryRelay()
      var apps: [RandomApp] = []
      for user in ["_alice", "_alice", "_bob", "_bob"] {
        apps.append(try RandomApp(relay, user: user))
      }
      await Self.letRequestsFail(relay, seed: UInt64(seed))
      for _ in 0..<100 {
        await Self.change(relay, apps, &random)
        try await apps[random.below(apps.count)].step(&random)
      }
      await relay.fail { _ in nil }
      for (number, app) in apps.enumerated() {
        try app.restart()
        try await app.client.fetchAllChanges()
        let (copy, expected) = (await app.sink.zones, await app.expected())
        #expect(copy == expected, "seed \(seed), app \(number)")
        failures += app.failures
        copies += copy.values.reduce(0) { $0 + $1.count }
      }
    }
    #expect(failures > 200 && copies > 200, "\(failures) failures, \(copies) records")
  }

  private static func letRequestsFail(_ relay: InMemoryRelay, seed: UInt64) async {
    let dice = Dice(SeededRandom(seed: seed &* 31))
    await relay.fail { request in
      if request.url.path.contains("tokens/unregister") { return nil }
      switch await dice.below(24) {
      case 0: return .unreachable
      case 1: return .lostAnswer
      case 2: return .status(503, retryAfter: 1)
      case 3: return .status(429)
      default: return nil
      }
    }
  }

  private static func change(
    _ relay: InMemoryRelay, _ apps: [RandomApp], _ random: inout SeededRandom
  ) async {
    let zone = zones[random.below(zones.count)]
    let author = random.isOne(in: 2) ? apps[random.below(apps.count)].client.installation : nil
    let name = "r\(random.below(6))"
    switch random.below(20) {
    case 0: await relay.expireTokens()
    case 1: await relay.end(zone, [.deleted, .purged, .reset][random.below(3)])
    case 2: await relay.setPageEntries(1 + random.below(4))
    case 3, 4: await relay.share(zone, with: random.isOne(in: 2) ? "_alice" : "_bob")
    case 5: await relay.share(zone, with: random.isOne(in: 2) ? "_alice" : "_bob", false)
    case 6: await relay.create(zone)
    case 7, 8, 9: await relay.delete(name, in: zone, by: author)
    default:
      await relay.save(
        TestRecord(name, changeTag: "\(random.below(1_000))"), in: zone, by: author)
    }
  }
}

/// Random numbers that decide which requests fail.
private actor Dice {
  private var random: SeededRandom
  init(_ random: SeededRandom) { self.random = random }
  func below(_ bound: Int) -> Int { random.below(bound) }
}

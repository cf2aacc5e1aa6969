import RelayCore
import Testing

@testable import RelayEngine

/// A provider suddenly calls many devices dead: what the engine's health says, and which devices
/// are retired.
@Suite struct MassPruneTests {
  private let gone = Verdict.gone(at: nil, .init("Unregistered"))

  /// The engine's health after twenty devices took a push each, and the provider then called `dead`
  /// of these devices dead.
  private func health(dead: Int, hold: Span) async throws -> HealthSnapshot {
    let world = World { $0.policy.pruning.hold = hold }
    let gone = gone
    let seen = Seen()
    try await world.run { (engine: Engine) async throws -> Void in
      let zones = (1...20).map { ZoneID(name: "Notes", owner: UserID("_\($0)")) }
      for (number, zone) in zones.enumerated() {
        _ = try await engine.submit([
          World.registration(zone.owner.name, UInt64(number + 1), token: UInt8(number + 1))
        ])
        _ = try await engine.submit([World.zoneSubscription(zone.owner.name, zone)])
      }
      world.provider.answer([Verdict](repeating: .delivered, count: 20))
      _ = try await engine.submit(zones.enumerated().map { World.change(UInt64($0 + 1), $1) })
      await world.provider.took(20)
      world.provider.answer(
        (0..<20).map { $0 * dead / 20 != ($0 + 1) * dead / 20 ? gone : .delivered })
      _ = try await engine.submit(zones.enumerated().map { World.change(UInt64($0 + 101), $1) })
      await world.provider.took(40)
      var health = await engine.health()
      while health.lanes.inFlight > 0 {
        await Task.yield()
        health = await engine.health()
      }
      await seen.set(health)
    }
    return try #require(await seen.health)
  }

  private actor Seen {
    var health: HealthSnapshot?
    func set(_ health: HealthSnapshot) { self.health = health }
  }

  @Test func `the relay retires a few devices that the provider reports as dead`() async throws {
    let health = try await health(dead: 2, hold: Span(milliseconds: 10))
    #expect(health.lanes.retired == 2 && health.reasons.isEmpty)
    #expect(health.ledger.retired == 2 && health.ledger.isBalanced)
  }

  @Test func `the relay retires no device if 60% are reported dead, and says why`() async throws {
    let health = try await health(dead: 12, hold: .minutes(10))
    #expect(health.lanes.retired == 0 && health.lanes.resting == 12)
    #expect(health.ledger.pending == 12 && health.ledger.isBalanced)
    let reason = try #require(health.reasons.first)
    #expect(health.reasons.count == 1)
    #expect(reason.contains("retires no device") && reason.contains("Unregistered"))
    #expect(health.routes.first?.circuit == "closed", "others are woken as before")
  }
}

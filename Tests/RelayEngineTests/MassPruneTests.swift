import RelayCore
import Testing

@testable import RelayEngine

/// A provider that suddenly calls many devices dead, through the whole engine: what status says,
/// and which devices are retired.
@Suite struct MassPruneTests {
  private let gone = Verdict.gone(at: nil, .init("Unregistered"))

  /// Twenty users whose devices took a push, a change for each, and a provider that calls some of
  /// them dead.
  private func vitals(dead: Int, hold: Span) async throws -> Vitals {
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
      var vitals = await engine.vitals()
      while vitals.lanes.inFlight > 0 {
        await Task.yield()
        vitals = await engine.vitals()
      }
      await seen.set(vitals)
    }
    return try #require(await seen.vitals)
  }

  private actor Seen {
    var vitals: Vitals?
    func set(_ vitals: Vitals) { self.vitals = vitals }
  }

  @Test func aFewDeadTokensAreRetired() async throws {
    let vitals = try await vitals(dead: 2, hold: Span(milliseconds: 10))
    #expect(vitals.lanes.retired == 2 && vitals.reasons.isEmpty)
    #expect(vitals.ledger.retired == 2 && vitals.ledger.isBalanced)
  }

  @Test func sixtyInAHundredRetireNoneAndStatusSaysWhy() async throws {
    let vitals = try await vitals(dead: 12, hold: .minutes(10))
    #expect(vitals.lanes.retired == 0 && vitals.lanes.resting == 12)
    #expect(vitals.ledger.pending == 12 && vitals.ledger.isBalanced)
    let reason = try #require(vitals.reasons.first)
    #expect(vitals.reasons.count == 1)
    #expect(reason.contains("retires no device") && reason.contains("Unregistered"))
    #expect(vitals.routes.first?.circuit == "closed", "others are woken as before")
  }
}

import Testing

@testable import RelayCore

/// What the next attempt does differently after a token of the provider's other environment, and
/// after a payload that the provider finds too large.
@Suite struct OtherEnvironmentTests {
  private static let said = Address(
    transport: .apns, topic: Sample.topic, token: [7], environment: .development)
  private let everything = Subscription.Rule.database(recordType: nil)

  private func rig() -> PartitionRig {
    var rig = PartitionRig()
    rig.register(1, address: Self.said)
    rig.save("all", everything)
    return rig
  }

  private func push(_ rig: inout PartitionRig, _ verdict: Verdict) throws -> PushAttempt {
    rig.change(.record(.updated))
    let attempt = try #require(rig.wake().first)
    rig.ended(attempt, verdict)
    return attempt
  }

  @Test func `the relay tries the app's environment first and then the one that works`() throws {
    var rig = rig()
    #expect(try push(&rig, .deliveredElsewhere).address.environment == .development)
    #expect(rig.partition.ledger.woken == 1, "it is one wake, and it was delivered")
    #expect(rig.fold().devices.map(\.lane.isElsewhere) == [true], "a restart knows it too")
    #expect(try push(&rig, .delivered).address.environment == .production)
    #expect(try push(&rig, .deliveredElsewhere).address.environment == .production)
    rig.now = rig.now + .hours(2)
    #expect(try push(&rig, .delivered).address.environment == .development, "and back")
    #expect(rig.partition.ledger.isBalanced)
  }

  @Test func `a renewal keeps the learnt environment and a new token resets it`() throws {
    var rig = rig()
    _ = try push(&rig, .deliveredElsewhere)
    rig.register(1, address: Self.said)
    #expect(try push(&rig, .delivered).address.environment == .production)
    var fresh = Self.said
    fresh.token = [8]
    rig.register(1, address: fresh)
    #expect(try push(&rig, .delivered).address == fresh)
  }

  @Test func `a verdict about a replaced address does not change the environment`() throws {
    var rig = rig()
    rig.change(.record(.updated))
    let attempt = try #require(rig.wake().first)
    var fresh = Self.said
    fresh.token = [8]
    rig.register(1, address: fresh)
    rig.ended(attempt, .deliveredElsewhere)
    #expect(rig.wake().map(\.address) == [fresh])
  }

  @Test func `a token that no environment knows retires its device`() throws {
    var rig = rig()
    _ = try push(&rig, .gone(at: nil, .init("BadDeviceToken")))
    #expect(rig.fold().devices.first?.lane.retirement?.reason == "BadDeviceToken")
    #expect(rig.partition.ledger.retired == 1 && rig.partition.ledger.isBalanced)
  }

  /// Tokens of the provider's other environment do not stop pruning, even if all tokens of an app
  /// belong to that environment.
  @Test func `tokens found in the other environment start no quarantine`() {
    var pruning = Pruning()
    for serial in 1...200 {
      let attempt = PushAttempt.ID(
        partition: PartitionID(0), device: serial, serial: UInt64(serial))
      let subject = Pruning.Subject(
        user: UserID("_\(serial)"), client: ClientID(Identifier(high: 0, low: UInt64(serial))),
        hasTaken: false)
      let settled = pruning.heard(
        .deliveredElsewhere, of: attempt, about: subject, at: Sample.start)
      #expect(settled == .deliveredElsewhere)
    }
    #expect(pruning.stop == nil)
  }

  @Test func `a payload that is too large is made smaller for the next attempt`() throws {
    var rig = rig()
    for number in 0..<60 {
      let name = "Zone-\(number)-" + String(repeating: "x", count: 60)
      rig.change(.record(.created), in: ZoneID(name: name, owner: Sample.owner))
    }
    let large = try #require(rig.wake().first)
    #expect((3_000...4_096).contains(large.payload.count))
    rig.ended(large, .tooLarge(.init("PayloadTooLarge")))
    let small = try #require(rig.wake(after: 0).first)
    #expect((1_000...2_048).contains(small.payload.count))
    #expect(small.wake == large.wake, "the same wake, told in fewer words")
    #expect(small.text.contains("\"m\":1"))
    rig.ended(small, .delivered)
    #expect(rig.partition.ledger.isBalanced)
    let rest = try #require(rig.wake().first)
    #expect(rest.payload.count > 2_048, "the next wake has the whole room again")
  }

  @Test func `a wake that is too large twice waits like any refused wake`() throws {
    var rig = rig()
    rig.change(.record(.created))
    let first = try #require(rig.wake().first)
    rig.ended(first, .tooLarge(.init("PayloadTooLarge")))
    let second = try #require(rig.wake(after: 0).first)
    rig.ended(second, .tooLarge(.init("PayloadTooLarge")))
    #expect(rig.wake().isEmpty, "it rests as any that is refused")
    rig.now = rig.now + WakePolicy().retryMax
    #expect(rig.wake().count == 1)
    #expect(rig.partition.ledger.isBalanced)
  }
}

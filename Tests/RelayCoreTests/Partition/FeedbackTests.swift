import RelayCore
import Testing

/// What feedback the apps' servers get, and which cut makes the feedback durable.
@Suite struct FeedbackTests {
  private let gone = Verdict.gone(at: Sample.start + .hours(1), .init("Unregistered"))

  /// A device with a zone subscription, and its first wake.
  private func woken() throws -> (PartitionRig, PushAttempt) {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("zones", .zone(Sample.zone, recordType: nil))
    rig.change(.record(.created))
    let attempts = rig.wake()
    return (rig, try #require(attempts.first))
  }

  @Test func `feedback reports a retirement in the cut that makes it durable`() throws {
    var (rig, attempt) = try woken()
    rig.ended(attempt, gone)
    #expect(rig.partition.isDirty)
    var cut = rig.fold()
    let item = try #require(cut.feedback.first)
    #expect(cut.feedback.count == 1 && cut.devices.first?.lane.retirement != nil)
    #expect(item.news == .retired(reason: "Unregistered", since: Sample.start + .hours(1)))
    #expect(item.device.client == Sample.client(1) && item.address == Sample.address(1))
    #expect(item.registeredAt == Sample.start && item.at == rig.now)
    cut = rig.fold()
    #expect(cut.feedback.isEmpty, "it is told once")
  }

  @Test func `a verdict about an older registration makes no feedback`() throws {
    var (rig, attempt) = try woken()
    rig.register(1)
    rig.ended(attempt, gone)
    let cut = rig.fold()
    #expect(cut.feedback.isEmpty)
  }

  @Test func `a retired device that registers again is reported as returned`() throws {
    var (rig, attempt) = try woken()
    rig.ended(attempt, gone)
    let first = rig.fold().feedback
    rig.register(1, address: Sample.address(9))
    let second = rig.fold().feedback
    #expect(second.map(\.news) == [.returned])
    #expect(second.first?.address == Sample.address(9))
    rig.register(1, address: Sample.address(9))
    let cut = rig.fold()
    #expect(cut.feedback.isEmpty, "a renewal is no news")
    #expect(Set((first + second).map(\.id)).count == 2)
  }

  @Test func `a displaced device is reported with the token that it lost`() throws {
    var rig = PartitionRig()
    rig.register(1)
    let key = DeviceKey(scope: Sample.scope, user: Sample.owner, client: Sample.client(1))
    let lost = Forwarded.Message.displaced(
      Displacement(device: key, registration: Ordinal(1)))
    rig.hear(lost, 5)
    let told = rig.fold().feedback
    #expect(told.map(\.news) == [.retired(reason: "displaced", since: nil)])
    #expect(told.first?.address == Sample.address(1))
    rig.hear(lost, 6)
    let cut = rig.fold()
    #expect(cut.feedback.isEmpty, "it is retired already")
  }

  private let phone = DeviceKey(
    scope: Sample.scope, user: Sample.owner, client: Sample.client(1))

  /// The phone acknowledged before, and has answered none of three wakes.
  private func silent() throws -> PartitionRig {
    var policy = WakePolicy()
    policy.silentAfter = .minutes(5)
    var rig = PartitionRig(policy: policy)
    rig.register(1)
    rig.save("zones", .zone(Sample.zone, recordType: nil))
    rig.partition.served(.listed([], .private), by: phone, at: rig.now)
    rig.change(.record(.created))
    for seconds in [3.0, 301, 1_801] {
      let attempts = rig.wake(after: seconds)
      rig.ended(try #require(attempts.first), .delivered)
    }
    return rig
  }

  @Test func `feedback reports a silent device and its return`() throws {
    var rig = try silent()
    let silent = rig.fold().feedback
    #expect(silent.map(\.news) == [.silent(since: Sample.start + .seconds(3), wakes: 3)])
    rig.partition.served(.wake(3), by: phone, at: rig.now)
    var cut = rig.fold()
    #expect(cut.feedback.map(\.news) == [.returned])
    rig.partition.served(.wake(3), by: phone, at: rig.now)
    cut = rig.fold()
    #expect(cut.feedback.isEmpty)
  }

  @Test(arguments: [UInt32(0), 4, .max])
  func `a number that no wake has had is no sign of the device`(wake: UInt32) throws {
    var rig = try silent()
    _ = rig.fold()
    rig.partition.served(.wake(wake), by: phone, at: rig.now)
    let cut = rig.fold()
    #expect(cut.feedback.isEmpty && cut.devices.isEmpty)
  }

  @Test func `a poll at the courier reports a silent device as returned`() throws {
    var rig = try silent()
    var effects: [Effect] = []
    rig.partition.connected(phone, 7, after: nil, at: rig.now, &effects)
    let cut = rig.fold()
    #expect(cut.feedback.map(\.news).last == .returned)
  }
}

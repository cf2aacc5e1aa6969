import Foundation
import RelayCore
import Testing

/// A hot change on the real binary: its wakes leave at the configured rate.
@Suite(.serialized) struct WakePacerTests {
  private static let subscribers = 1_000
  /// The wakes a second. The stand-in's debug build answers some 250 pushes a second.
  private static let rate = 100.0
  private static let smearing = "smearing: { rate: 100, above: 300 }"

  /// Pushes arrive at a constant rate. A device that is woken before its slot gets the time until
  /// which the hot zone is not to be fetched.
  @Test func `a hot change wakes devices at the rate, and earlier pushes name the slot`()
    async throws
  {
    let (workplace, standin) = try await Workplace.withStandin(extra: Self.smearing)
    defer { workplace.remove() }
    try await Self.settle(in: workplace)
    let daemon = try await RunningDaemon.start(in: workplace)

    let asked = Date().timeIntervalSince1970
    #expect(try await Readership.publish("A1", to: daemon).status == 202)
    #expect(try await Self.reportPrivateChanges(to: daemon).status == 202)
    let isWaiting = try await Pause.until {
      try await daemon.metric("zonerelay_smeared_lanes") > 300
    }
    #expect(isWaiting)
    let isDone = try await Pause.until(seconds: 60) {
      try Set(standin.pushes().map { $0["path"].string }).count == Self.subscribers
    }
    #expect(isDone)
    let pushes = try standin.pushes().map(Push.init)
    let (early, hot) = (pushes.filter(\.isEarly), pushes.filter { !$0.isEarly })
    Self.expectSpread(hot)
    // Devices with a private change are woken at once. Their push names the time before which they
    // must not fetch the hot zone.
    #expect(early.count > 30)
    for push in early {
      // The slot in whole seconds. It does not depend on when the push arrives.
      let slot = try #require(push.notBefore) - asked
      #expect(slot > -1 && slot < 20)
    }
    #expect(hot.allSatisfy { $0.notBefore == nil })
    #expect(try await daemon.status()["ledger"]["balanced"].bool == true)
    #expect(await daemon.stop().status == 0)
  }

  @Test func `devices that wait at a kill are woken at the rate after the restart`() async throws {
    let (workplace, standin) = try await Workplace.withStandin(extra: Self.smearing)
    defer { workplace.remove() }
    try await Self.settle(in: workplace)
    var daemon = try await RunningDaemon.start(in: workplace)
    #expect(try await Readership.publish("A1", to: daemon).status == 202)
    var woken: Set<String> = []
    try await Pause.until {
      woken = try await Self.wokenOnDisk(daemon)
      return woken.count > 100
    }
    #expect(woken.count > 100)
    await daemon.kill()
    let before = try standin.pushes().map(Push.init)
    #expect(before.count < Self.subscribers - 100, "too few devices waited at the kill")
    daemon = try await RunningDaemon.start(in: workplace)
    let isDone = try await Pause.until(seconds: 60) {
      try Set(standin.pushes().map { try Push($0).user }).count == Self.subscribers
    }
    #expect(isDone)
    let pushes = Dictionary(grouping: try standin.pushes().map(Push.init), by: \.user)
    // Only wakes whose outcome was not yet on disk are repeated.
    #expect(woken.isDisjoint(with: pushes.filter { $0.value.count > 1 }.keys))
    Self.expectNoHerd(pushes.values.map { $0[0] })
    #expect(await daemon.stop().status == 0)
  }

  /// The users whose devices have been woken, according to what is on disk.
  private static func wokenOnDisk(_ daemon: RunningDaemon) async throws -> Set<String> {
    let devices = try await daemon.control("/devices")["devices"].array
    return Set(devices.filter { $0["lastWake"].int != nil }.compactMap { $0["user"].string })
  }

  /// A push as the stand-in logged it.
  private struct Push {
    var time: Double
    var token: String
    var user: String
    var notBefore: Double?
    var isEarly: Bool

    init(_ line: JSON) throws {
      let form = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
      time = try form.parse(line["time"].string ?? "").timeIntervalSince1970
      token = line["path"].string?.split(separator: "/").last.map(String.init) ?? ""
      user = line["payload"]["ck"]["ckuserid"].string ?? ""
      let zr = line["payload"]["zr"]
      notBefore = zr["nb"].int.map(Double.init)
      // The push names a private zone, so the device was woken for more than the hot change.
      isEarly = !zr["z"].array.isEmpty && zr["nb"].int != nil
    }
  }

  /// The rate is constant as long as every partition has devices to wake. Partitions with more
  /// devices than others end a little later, and a busy machine delays pushes.
  private static func expectSpread(_ pushes: [Push]) {
    let times = pushes.map(\.time).sorted()
    let half = Double(times.count / 2) / rate
    let took = times[times.count / 2] - times[0]
    #expect(took < 3 * half, "half of them took \(took) s, not \(half)")
    #expect(times.last! - times[0] < 4 * Double(subscribers) / rate)
    expectNoHerd(pushes)
  }

  /// Wakes leave at the rate, or later: a delay of the machine may let the late ones arrive
  /// together, but never makes one arrive sooner. Before the first one, the delay may be 1.5 s.
  private static func expectNoHerd(_ pushes: [Push]) {
    let times = pushes.map(\.time).sorted()
    for (index, time) in times.enumerated() {
      guard Double(index) > rate * (time - times[0] + 1.5) else { continue }
      Issue.record("\(index) wakes within \(time - times[0]) s")
      return
    }
  }

  private static func reportPrivateChanges(to daemon: RunningDaemon) async throws -> Web.Answer {
    var producer = Producer(daemon.web, key: daemon.workplace.producerKey)
    let events = stride(from: 0, to: subscribers, by: 20).map {
      producer.event("created", record: "own", zone: "Own", user: Readership.user($0).name)
    }
    return try await producer.post(events)
  }

  /// Fills the store with the subscribers. One user in twenty also subscribes to the user's own
  /// private database.
  private static func settle(in workplace: Workplace) async throws {
    let own = Subscription(
      id: SubscriptionID("own"), database: .private, rule: .database(recordType: nil),
      info: NotificationInfo())
    try await Readership(count: subscribers).settle(in: workplace.file("store")) { number in
      Readership.Belongings(
        subscriptions: number.isMultiple(of: 20) ? [own] : [],
        token: (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) ^ 0x5a })
    }
  }
}

import Foundation
import Testing

/// Dead tokens: every app has a few. If the provider reports many at once, the relay assumes that
/// its own configuration is wrong.
@Suite(.serialized) struct PruneTests {
  /// The provider calls 1 % of 1,000 phones dead: the relay retires these phones, and reports them
  /// in the feedback and to the operator. Then the provider calls 60 % dead: the relay retires no
  /// more phones, and `status` says why. Once the provider recovers, all phones that are not
  /// retired are woken.
  @Test func `a few dead devices are retired, but many at once are not`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let receiver = try await Receiver.start(in: workplace)
    defer { receiver.program.signal(SIGKILL) }
    let world = try await FaultWorld.start(
      in: workplace, phones: 1_000, neighbours: 0, attempt: "5s", quarantine: "3s",
      environment: receiver.configuration(workplace), token: Self.token)
    var producer = Producer(world.daemon.web, key: workplace.producerKey)
    let gone = world.phones.enumerated().filter { $0.offset % 100 == 7 }.map(\.element)
    let rest = world.phones.enumerated().filter { $0.offset % 100 != 7 }.map(\.element)

    try await world.set("answer 410 tokens=d1")
    try await world.change(world.phones, &producer)
    try await settle(world) { $0["lanes"]["retired"].int == 10 }
    try await checkRetired(world, gone)
    try await checkTold(world.daemon, receiver, gone)
    #expect(try await state(of: rest[0]) == "active")

    try await world.set("answer 410 tokens=d2; answer 410 tokens=d1")
    try await world.change(rest, &producer)
    var tripped = JSON(nil)
    let hasTripped = try await Pause.until {
      tripped = try await world.daemon.control("/status")
      return tripped["reasons"].array.contains {
        $0.string?.contains("retires no device") == true
      }
    }
    #expect(hasTripped, "\(tripped)")
    try await checkTripped(world, tripped)
    // The relay tries each resting device again. The provider calls these devices dead again, and
    // the relay retires no device.
    #expect(try await Pause.until { try await stops(world) >= 2 })
    let still = try await world.daemon.control("/status")
    #expect(still["lanes"]["retired"].int == 10, "\(still) \(world.daemon.program.errors)")

    try await world.set("")
    try await settle(world, seconds: 40) { $0["healthy"].bool == true }
    let end = try await world.daemon.control("/status")
    #expect(end["lanes"]["retired"].int == 10 && end["ledger"]["retired"].int == 10)
    var tail = PushTail(world.broken)
    try tail.read()
    let woken = Set(tail.pushes.filter { $0.status == 200 }.map(\.token))
    #expect(woken == Set(rest.map(\.pushToken)))
    #expect(try await world.daemon.metrics().contains(stoppedMetric(0)))
    #expect(world.daemon.program.errors.contains("retiring devices again"))
    try await checkTold(world.daemon, receiver, gone)
    try await comesBack(world, gone[0], &producer)
    let told = try await world.daemon.feedback()
    #expect(told.count == 11 && told.last?["type"].string == "returned")
    #expect(told.last?["clientId"].string == gone[0].client)
    #expect(await world.stop().status == 0)
  }

  /// The daemon is killed while some retirements are delivered, some are only stored and some
  /// devices are only suspected. After the restart the daemon delivers the missing reports, and
  /// repeated reports have the same id.
  @Test func `a kill loses no report of a retired device`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let receiver = try await Receiver.start(in: workplace)
    defer { receiver.program.signal(SIGKILL) }
    let world = try await FaultWorld.start(
      in: workplace, phones: 500, neighbours: 0, attempt: "5s",
      environment: receiver.configuration(workplace), token: Self.token)
    var producer = Producer(world.daemon.web, key: workplace.producerKey)
    let gone = world.phones.enumerated().filter { $0.offset % 100 == 7 }.map(\.element)
    try receiver.behave(.slow)
    try await world.set("answer 410 tokens=d1")
    try await world.change(Array(world.phones[..<300]), &producer)
    // The webhook's request is under way and not yet answered.
    #expect(try await receiver.met(.slow))
    try await world.change(Array(world.phones[300...]), &producer)
    var tail = PushTail(world.broken)
    let isSuspected = try await Pause.until {
      try tail.read()
      return tail.pushes.contains { $0.token == gone[4].pushToken && $0.status == 410 }
    }
    #expect(isSuspected)
    await world.daemon.kill()
    try receiver.behave(.ok)
    let daemon = try await RunningDaemon.start(in: workplace)
    try await checkTold(daemon, receiver, gone)
    let received = try receiver.received()
    let repeats = received.flatMap { $0["body"]["items"].array }.count - gone.count
    print("a kill amid retirements: \(received.count) deliveries, \(repeats) items twice")
    #expect(await daemon.stop().status == 0)
    world.broken.stop()
    world.healthy.stop()
  }

  /// The feed and the webhook list these devices and no other. Each device's item has one id, the
  /// same in both.
  private func checkTold(
    _ daemon: RunningDaemon, _ receiver: Receiver, _ gone: [Phone]
  ) async throws {
    let clients = Set(gone.map(\.client))
    var told: [String: Set<String>] = [:]
    try await Pause.until(seconds: 40) {
      told = [:]
      for item in try receiver.taken() {
        told[item["clientId"].string ?? "", default: []].insert(item["id"].string ?? "")
      }
      return told.count >= gone.count
    }
    #expect(Set(told.keys) == clients && told.values.allSatisfy { $0.count == 1 })
    #expect(try receiver.isVerified())
    let feed = try await daemon.feedback()
    #expect(feed.count == gone.count && Set(feed.map { $0["clientId"].string }) == clients)
    #expect(Set(feed.compactMap { $0["id"].string }) == Set(told.values.flatMap { $0 }))
    #expect(feed.allSatisfy { $0["type"].string == "retired" })
    #expect(feed.allSatisfy { $0["reason"].string == "Unregistered" })
  }

  /// A push token. It begins with `d1` for one phone in a hundred, with `d2` for six in ten, and
  /// with `a3` for the others, so that a fault can name the phones that it concerns.
  @Sendable private static func token(_ number: Int) -> String {
    let kind = number % 100 == 7 ? "d1" : number % 10 < 6 ? "d2" : "a3"
    return kind + String(format: "%062x", number)
  }

  private func stoppedMetric(_ count: Int) -> String {
    "zonerelay_routes_retiring_stopped{container=\"\(Workplace.container)\","
      + "environment=\"development\",transport=\"apns\"} \(count)"
  }

  /// The app, the operator, the metrics and the log show the retirement, but not the token.
  private func checkRetired(_ world: FaultWorld, _ gone: [Phone]) async throws {
    for phone in gone.prefix(3) { #expect(try await state(of: phone) == "retired Unregistered") }
    var listed: [JSON] = []
    // The list is read from the store, so it is one fold behind.
    try await Pause.until {
      listed = try await world.daemon.control("/devices")["devices"].array
        .filter { $0["state"].string == "retired" }
      return listed.count == gone.count
    }
    #expect(Set(listed.compactMap { $0["clientId"].string }) == Set(gone.map(\.client)))
    #expect(listed.allSatisfy { $0["reason"].string == "Unregistered" })
    #expect(listed.allSatisfy { $0["tokenDigest"].string?.count == 8 })
    let shown = try await Program.run(
      ["device", "list", "--control", world.workplace.controlSocket], in: world.workplace)
    #expect(shown.status == 0 && shown.output.contains("retired"))
    let metrics = try await world.daemon.metrics()
    #expect(metrics.contains("zonerelay_lanes{reason=\"retired\"} 10"))
    #expect(metrics.contains(stoppedMetric(0)))
    let log = world.daemon.program.errors
    #expect(log.components(separatedBy: "device retired").count == 11)
    for phone in gone {
      for said in [log, shown.output, metrics, "\(listed)"] {
        #expect(!said.contains(phone.pushToken))
      }
    }
  }

  private func checkTripped(_ world: FaultWorld, _ status: JSON) async throws {
    #expect(status["healthy"].bool == false)
    #expect(status["lanes"]["retired"].int == 10)
    let reason = status["reasons"].array.compactMap(\.string).first {
      $0.contains("retires no device")
    }
    let words = try #require(reason)
    #expect(words.contains(Workplace.topic) && words.contains("Unregistered"))
    #expect(words.contains("answers called a device dead"))
    #expect(words.contains("check that its endpoint, topic and key"))
    let command = try await Program.run(
      ["status", "--control", world.workplace.controlSocket], in: world.workplace)
    #expect(command.status == 1 && command.output.contains("retires no device"))
    #expect(try await world.daemon.metrics().contains(stoppedMetric(1)))
    #expect(try await stops(world) >= 1)
  }

  /// How often the daemon logged that it retires no device because too many are called dead.
  private func stops(_ world: FaultWorld) async throws -> Int {
    world.daemon.program.errors.components(
      separatedBy: "too many devices called dead, none is retired"
    ).count - 1
  }

  /// The device's state as the app reads it.
  private func state(of phone: Phone) async throws -> String {
    let answer = try await phone.web.post(
      "/device/1/\(phone.scope)/tokens/list", [:] as [String: Any], token: phone.userToken)
    let device = answer.json["devices"][0]
    #expect(device["clientId"].string == phone.client)
    return [device["state"].string, device["reason"].string].compactMap { $0 }
      .joined(separator: " ")
  }

  /// The app registers anew: the same token is good again, whatever the provider reported before.
  private func comesBack(
    _ world: FaultWorld, _ phone: Phone, _ producer: inout Producer
  ) async throws {
    try await phone.register()
    #expect(try await state(of: phone) == "active")
    try await world.set("answer 410 age=1h tokens=d1")
    try await world.change([phone], &producer)
    var tail = PushTail(world.broken)
    let isTold = try await Pause.until {
      try tail.read()
      return tail.pushes.count { $0.token == phone.pushToken && $0.status == 410 } >= 3
    }
    #expect(isTold, "it is asked again, for the word is older than the registration")
    #expect(try await state(of: phone) == "active")
    try await world.set("")
    #expect(
      try await Pause.until {
        try tail.read()
        return tail.pushes.contains { $0.token == phone.pushToken && $0.status == 200 }
      })
  }

  private func settle(
    _ world: FaultWorld, seconds: Int = 20, _ isDone: (JSON) -> Bool
  ) async throws {
    var status = JSON(nil)
    let isSettled = try await Pause.until(seconds: seconds) {
      status = try await world.daemon.control("/status")
      return status["ledger"]["pending"].int == 0 && status["lanes"]["inFlight"].int == 0
        && isDone(status)
    }
    #expect(isSettled, "\(status)")
    #expect(status["ledger"]["balanced"].bool == true)
  }
}

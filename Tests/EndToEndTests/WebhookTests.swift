import Foundation
import Testing

/// The provider answers that devices are gone, and the relay reports these devices to the app's own
/// server. The test runs the built binary and a Python server that fails, hangs and restarts.
/// Third-party code checks the signatures.
@Suite(.serialized) struct WebhookTests {
  /// A push token. The stand-in answers "gone" if the token spells the word in ASCII.
  private static func token(_ index: Int, isGone: Bool) -> String {
    (isGone ? "676f6e65" : "a1a1a1a1") + String(format: "%056x", index)
  }

  @Test func `a failing webhook server misses no feedback, and repeats keep their ids`()
    async throws
  {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let apple = try await Standin.start(in: workplace)
    defer { apple.stop() }
    var receiver = try await Receiver.start(in: workplace)
    try workplace.configure(
      window: "100ms", environment: receiver.configuration(workplace))
    let checked = try await Program.run(["check", "-c", workplace.configPath], in: workplace)
    #expect(checked.status == 0, "\(checked.errors)")
    #expect(checked.output.contains("webhook.key (a key of 33 bytes, masked)"))
    #expect(!checked.output.contains(Receiver.keyText))
    var daemon = try await RunningDaemon.start(in: workplace)
    var producer = Producer(daemon.web, key: workplace.producerKey)

    // The server fails, and the daemon is killed between a retirement and its delivery.
    try receiver.behave(.fail)
    let first = try await retire(0..<3, of: "_a", daemon, &producer)
    #expect(try await receiver.met(.fail))
    await daemon.kill()
    daemon = try await RunningDaemon.start(in: workplace)
    let listed = try await daemon.feedback()
    #expect(Set(listed.map { $0["clientId"].string }) == Set(first), "kill -9 lost none")

    // The server closes a connection, then answers 429, then leaves a request without an answer.
    // Wakes continue as usual.
    try receiver.behave(.drop)
    #expect(try await receiver.met(.drop))
    try receiver.behave(.busy)
    #expect(try await receiver.met(.busy))
    try receiver.behave(.hang)
    #expect(try await receiver.met(.hang))
    let phone = try await waker(daemon)
    try await checkWakes(phone, apple, &producer)
    let second = try await retire(3..<6, of: "_b", daemon, &producer)
    let isTold = try await Pause.until {
      try await daemon.status()["reasons"].array.contains {
        $0.string?.contains("does not take feedback") == true
      }
    }
    #expect(isTold)

    // The server restarts, redirects, and then works.
    await receiver.stop()
    try receiver.behave(.redirect)
    receiver = try await Receiver.start(in: workplace, again: receiver)
    defer { receiver.program.signal(SIGKILL) }
    #expect(try await receiver.met(.redirect))
    try receiver.behave(.ok)
    await daemon.kill()
    daemon = try await RunningDaemon.start(in: workplace)
    let third = try await retire(6..<8, of: "_c", daemon, &producer)
    let isWhole = try await Pause.until { try receiver.taken().count >= 8 }
    #expect(isWhole)
    try await check(receiver, daemon, clients: first + second + third)
    #expect(await daemon.stop().status == 0)
  }

  private func checkWakes(
    _ phone: Phone, _ apple: Standin, _ producer: inout Producer
  ) async throws {
    var delays: [Double] = []
    for number in 0..<5 {
      delays.append(try await wake(phone, number, apple, &producer))
    }
    print("wakes beside a receiver that hangs: \(delays.map { Int($0 * 1_000) }) ms")
    #expect(delays.max() ?? 99 < 3)
  }

  private func check(
    _ receiver: Receiver, _ daemon: RunningDaemon, clients: [String]
  ) async throws {
    let taken = try receiver.taken()
    #expect(taken.map { $0["position"].int } == Array(1...8), "once, in order")
    #expect(Set(taken.map { $0["clientId"].string }) == Set(clients))
    for item in taken {
      #expect(item["type"].string == "retired" && item["reason"].string == "Unregistered")
      #expect(item["providerTime"].int != nil && item["tokenDigest"].string?.count == 8)
      #expect(item["environment"].string == "development" && item["transport"].string == "apns")
    }
    let received = try receiver.received()
    #expect(received.allSatisfy { $0["verified"].bool == true })
    #expect(received.allSatisfy { $0["path"].string == "/feedback" }, "no redirect is followed")
    let times = received.map { Int($0["headers"]["webhook-timestamp"].string ?? "") ?? 0 }
    for (index, item) in received.enumerated() where item["conduct"].string == "busy" {
      #expect(times[index + 1] - times[index] >= Receiver.retryAfter, "it is given its time")
    }
    if received.first?["byLibrary"].bool != true {
      print("skipped: webhooks verified by standardwebhooks: it is not installed; `make webhook`")
    }
    var ids: [Int: Set<String>] = [:]
    for item in received.flatMap({ $0["body"]["items"].array }) {
      ids[item["position"].int ?? 0, default: []].insert(item["id"].string ?? "")
    }
    #expect(ids.count == 8 && ids.values.allSatisfy { $0.count == 1 }, "a repeat has its id")
    let listed = try await daemon.feedback()
    #expect(listed.map { $0["id"].string } == taken.map { $0["id"].string })
    let isWell = try await Pause.until {
      let hook = try await daemon.status()["webhooks"][0]
      return hook["state"].string == "idle" && hook["position"].int == 8
    }
    #expect(isWell)
    let page = try await Program.run(
      ["feedback", "--control", daemon.workplace.controlSocket, "--after", "2", "--limit", "3"],
      in: daemon.workplace)
    #expect(page.output.split(separator: "\n").count == 4, "a heading and three items")
    #expect(page.errors.contains("zonerelay feedback --after 5 --limit 3"))
  }

  @Test func `the relay sends nothing to a webhook that answers 410 until a reload`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let apple = try await Standin.start(in: workplace)
    defer { apple.stop() }
    let receiver = try await Receiver.start(in: workplace)
    defer { receiver.program.signal(SIGKILL) }
    try workplace.configure(window: "100ms", environment: receiver.configuration(workplace))
    let daemon = try await RunningDaemon.start(in: workplace)
    var producer = Producer(daemon.web, key: workplace.producerKey)
    try receiver.behave(.gone)
    _ = try await retire(0..<1, of: "_a", daemon, &producer)
    let isStopped = try await Pause.until {
      try await daemon.status()["webhooks"][0]["state"].string == "stopped"
    }
    #expect(isStopped)
    try receiver.behave(.ok)
    daemon.program.signal(SIGHUP)
    let isTaken = try await Pause.until { try receiver.taken().count == 1 }
    #expect(isTaken)
    #expect(try receiver.received().count == 2)
    #expect(await daemon.stop().status == 0)
  }

  /// Registers devices whose tokens are gone, and waits until all are retired.
  private func retire(
    _ numbers: Range<Int>, of user: String, _ daemon: RunningDaemon, _ producer: inout Producer
  ) async throws -> [String] {
    let phones = numbers.map {
      Phone(
        daemon.web, user: user, in: daemon.workplace,
        pushToken: Self.token($0, isGone: true))
    }
    for phone in phones { try await phone.register() }
    try await phones[0].subscribe(toZone: "Z")
    _ = try await producer.post([
      producer.event("created", record: "R", zone: "Z", user: user)
    ])
    let isDone = try await Pause.until(seconds: 40) {
      let clients = Set(try await daemon.feedback().map { $0["clientId"].string })
      return phones.allSatisfy { clients.contains($0.client) }
    }
    #expect(isDone)
    return phones.map(\.client)
  }

  private func waker(_ daemon: RunningDaemon) async throws -> Phone {
    let phone = Phone(
      daemon.web, user: "_w", in: daemon.workplace, pushToken: Self.token(1, isGone: false))
    try await phone.register()
    _ = try await phone.modify([
      [
        "operationType": "create",
        "subscription": [
          "subscriptionID": "alerts", "subscriptionType": "zone",
          "zoneID": ["zoneName": "Z", "ownerRecordName": "_w"],
          "notificationInfo": ["alertBody": "news"],
        ],
      ]
    ])
    return phone
  }

  /// Seconds from a change to its push. The change causes an alert, because the background budget
  /// is soon spent.
  private func wake(
    _ phone: Phone, _ number: Int, _ apple: Standin, _ producer: inout Producer
  ) async throws -> Double {
    let start = ContinuousClock.now
    _ = try await producer.post([
      producer.event("created", record: "R\(number)", zone: "Z", user: phone.user)
    ])
    let isThere = try await Pause.until {
      try apple.pushes(to: phone.pushToken).count > number
    }
    #expect(isThere)
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}

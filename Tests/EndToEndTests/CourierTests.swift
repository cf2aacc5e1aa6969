import Foundation
import RelayCurl
import Testing

/// A connected phone gets a wake over the courier, and a push only if it does not fetch.
@Suite(.serialized) struct CourierTests {
  @Test func `a phone on the courier gets a push only if it does not fetch`() async throws {
    let (workplace, standin) = try await Workplace.withStandin(extra: "wake: { courierGrace: 2s }")
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    var phone = Phone(
      daemon.web, user: "_abc", in: workplace, pushToken: String(repeating: "c0", count: 32))
    let path = try await Self.register(phone)
    try await phone.subscribe(toZone: "One")
    var producer = Producer(daemon.web, key: workplace.producerKey)

    // A phone that fetches gets no push.
    let first = try await Self.told(daemon, path) {
      _ = try await producer.post([
        producer.event("created", record: "A", zone: "One", user: "_abc")
      ])
    }
    #expect(first.json["aps"]["content-available"].int == 1)
    #expect(first.json["ck"]["fet"]["zid"].string == "One")
    #expect(first.took < .seconds(2), "\(first.took)")
    try await phone.catchUp(page: 200)
    #expect(phone.zones["One"] == ["A": "1"])
    let isQuiet = try await Pause.until {
      try await daemon.status()["lanes"]["idle"].int == 1
    }
    #expect(isQuiet)

    // A phone that does not fetch gets a push of the same wake after the grace.
    let second = try await Self.told(daemon, path) {
      _ = try await producer.post([
        producer.event("updated", record: "A", zone: "One", user: "_abc")
      ])
    }
    let wake = try #require(second.json["zr"]["w"].int)
    #expect(wake > first.json["zr"]["w"].int ?? 0)
    #expect(try standin.pushes(to: phone.pushToken).isEmpty)
    #expect(try await Pause.until { try !standin.pushes(to: phone.pushToken).isEmpty })
    let pushes = try standin.pushes(to: phone.pushToken)
    #expect(pushes.count == 1)
    #expect(pushes[0]["payload"]["zr"]["w"].int == wake)
    let status = try await daemon.status()
    #expect(status["ledger"]["balanced"].bool == true)
    #expect(status["ledger"]["woken"].int == 2)
    #expect(await daemon.stop().status == 0)
  }

  /// 2,000 polls at once, and one public change that reaches all of them. The bench runs beside the
  /// daemon, and fails if a poll gets no answer or the ledger does not balance.
  @Test func `a public change reaches 2,000 held polls`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let figures = try await Program.bench(
      "courier", "--polls", "2000", "--pairs", "2", in: workplace)
    func median(_ name: String) -> Double {
      figures.first { $0["name"].string == name }?["ours"]["median"].double ?? .infinity
    }
    #expect(median("polls held") == 2_000)
    #expect(median("change to all") < 15, "a debug build beside other tests")
    #expect(median("memory each while held") < 24, "a debug build")
  }

  /// Registers the phone, and returns the path of the courier's address, without scheme and host.
  private static func register(_ phone: Phone) async throws -> String {
    let answer = try await phone.web.post(
      "/device/1/\(phone.scope)/tokens/register",
      ["apnsEnvironment": "development", "apnsToken": phone.pushToken, "clientId": phone.client],
      token: phone.userToken)
    let url = try #require(answer.json["webcourierURL"].string)
    return String(url.dropFirst(phone.web.base.count))
  }

  /// Polls while `happens` runs, and returns the courier's answer.
  private static func told(
    _ daemon: RunningDaemon, _ path: String, _ happens: () async throws -> Void
  ) async throws -> (json: JSON, took: Duration) {
    async let answer = daemon.web.send("GET", path, [])
    let control = ControlClient(socket: daemon.workplace.controlSocket)
    let isConnected = try await Pause.until {
      let metrics = String(decoding: try await control.get("/metrics").body, as: UTF8.self)
      return metrics.contains("zonerelay_courier_connections 1\n")
    }
    #expect(isConnected)
    let start = ContinuousClock.now
    try await happens()
    let told = try await answer
    #expect(told.status == 200)
    return (told.json, ContinuousClock.now - start)
  }
}

import Foundation
import Testing

/// A change travels to a browser: the built binary, the stand-in for a push service, and
/// third-party code that opens the pushes.
@Suite(.serialized) struct WebPushTests {
  @Test func `a browser is woken by a push that only it can decrypt`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let apple = try await Standin.start(in: workplace)
    defer { apple.stop() }
    let service = try await OtherStandin.start("webpush-standin", in: workplace)
    defer { service.stop() }
    let made = try await Program.run(
      ["webpush", "keys", "--out", workplace.file("webpush.pem").path], in: workplace)
    let publicKey = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(publicKey.count == 87)
    try workplace.configure(
      environment: "webpush: { subject: 'mailto:push@example.com', allowPrivateAddresses: true, "
        + "key: \(workplace.file("webpush.pem").path), "
        + "trustRoots: \(service.directory.path)/ca.pem }")
    let checked = try await Program.run(["check", "-c", workplace.configPath], in: workplace)
    #expect(checked.status == 0, "\(checked.errors)")
    #expect(checked.output.contains("webpush.key = "))
    #expect(!checked.output.contains("PRIVATE KEY"))
    let daemon = try await RunningDaemon.start(in: workplace)

    let (alive, gone) = (
      Browser("alive", port: service.port), Browser("gone", port: service.port)
    )
    let phones = ["", ""].map { Phone(daemon.web, user: "_abc", in: workplace, pushToken: $0) }
    #expect(try await alive.register(phones[0]).status == 200)
    #expect(try await gone.register(phones[1]).status == 200)
    try await phones[0].subscribe(toZone: "One")
    var producer = Producer(daemon.web, key: workplace.producerKey)
    _ = try await producer.post([producer.event("created", record: "R", zone: "One", user: "_abc")])

    let isWoken = try await Pause.until {
      try !service.pushes(to: "alive").isEmpty && !service.pushes(to: "gone").isEmpty
    }
    #expect(isWoken)
    let pushes = try service.pushes(to: "alive")
    for push in pushes { check(push, publicKey) }
    if let opened = try await alive.open(pushes, in: workplace) {
      #expect(opened.count == pushes.count)
      for push in opened {
        #expect(push["vapid"].bool == true)
        check(payload: JSON(data: Data((push["text"].string ?? "").utf8)))
      }
    } else {
      print("skipped: Web Push opened by http-ece: it is not installed; `make webpush` needs PyPI")
    }

    let isRetired = try await Pause.until {
      try await Self.states(phones[1]) == ["webpush active", "webpush retired SubscriptionGone"]
    }
    #expect(isRetired)
    let route = try await daemon.status()["routes"].array.first {
      $0["transport"].string == "webpush"
    }
    #expect(route?["circuit"].string == "closed")
    #expect(await daemon.stop().status == 0)
  }

  private func check(_ push: JSON, _ publicKey: String) {
    #expect(push["status"].int == 201, "\(push)")
    let headers = push["headers"]
    #expect(headers["urgency"].string == "normal")
    #expect(headers["content-encoding"].string == "aes128gcm")
    #expect(headers["topic"].string?.count == 32)
    let lives = headers["ttl"].string.flatMap { Int($0) } ?? 0
    #expect((86_000...86_400).contains(lives))
    #expect(headers["authorization"].string?.hasSuffix(",k=\(publicKey)") == true)
  }

  private func check(payload: JSON) {
    #expect(payload["aps"].keys == ["content-available"])
    #expect(payload["ck"]["cid"].string == Workplace.container)
    #expect(payload["ck"]["fet"]["zid"].string == "One")
    #expect(payload["zr"]["z"][0][0].string == "One")
    #expect(payload["zr"]["w"].int != nil)
  }

  private static func states(_ phone: Phone) async throws -> Set<String> {
    let answer = try await phone.web.post(
      "/device/1/\(phone.scope)/tokens/list", [:], token: phone.userToken)
    return Set(
      answer.json["devices"].array.map { device in
        [device["transport"], device["state"], device["reason"]].compactMap(\.string)
          .joined(separator: " ")
      })
  }
}

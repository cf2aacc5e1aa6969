import Foundation
import Testing

/// A change travels to an Android device: the built binary and the stand-in for FCM.
@Suite(.serialized) struct FirebaseTests {
  @Test func `an Android device is woken by a data-only message`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let apple = try await Standin.start(in: workplace)
    defer { apple.stop() }
    let google = try await OtherStandin.start("fcm-standin", in: workplace)
    defer { google.stop() }
    try workplace.configure(
      environment: "fcm: { serviceAccount: \(google.directory.path)/service-account.json, "
        + "endpoint: 'https://127.0.0.1:\(google.port)', "
        + "trustRoots: \(google.directory.path)/ca.pem }")
    let check = try await Program.run(["check", "-c", workplace.configPath], in: workplace)
    #expect(check.status == 0, "\(check.errors)")
    #expect(!check.output.contains("PRIVATE KEY"))
    let daemon = try await RunningDaemon.start(in: workplace)

    let phone = Phone(daemon.web, user: "_abc", in: workplace, pushToken: "")
    let registered = try await daemon.web.post(
      "/device/1/\(phone.scope)/tokens/register",
      ["transport": "fcm", "clientId": phone.client, "token": "token:1"], token: phone.userToken)
    #expect(registered.status == 200, "\(registered.json)")
    try await phone.subscribe(toZone: "One")
    var producer = Producer(daemon.web, key: workplace.producerKey)
    _ = try await producer.post([producer.event("created", record: "R", zone: "One", user: "_abc")])

    #expect(try await Pause.until { try !google.pushes(to: "messages:send").isEmpty })
    let push = try #require(try google.pushes(to: "messages:send").first)
    #expect(push["status"].int == 200, "\(push)")
    let message = push["payload"]["message"]
    #expect(message["token"].string == "token:1")
    #expect(message.keys == ["token", "data", "android"])
    #expect(message["data"].keys == ["aps", "ck", "zr"])
    let data = ["aps", "ck", "zr"].map {
      JSON(data: Data((message["data"][$0].string ?? "").utf8))
    }
    #expect(data[0].keys == ["content-available"])
    #expect(data[1]["fet"]["zid"].string == "One")
    #expect(data[2]["z"][0][0].string == "One")
    #expect(message["android"]["priority"].string == "NORMAL")
    #expect(message["android"]["collapse_key"].string == "zonerelay-background")
    #expect(message["android"]["ttl"].string?.hasSuffix("s") == true)
    #expect(try google.pushes(to: "token").map { $0["status"].int } == [200])
    let route = try await daemon.status()["routes"].array.first {
      $0["transport"].string == "fcm"
    }
    #expect(route?["topic"].string == "zonerelay-standin")
    #expect(await daemon.stop().status == 0)
  }
}

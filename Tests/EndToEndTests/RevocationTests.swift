import Foundation
import Testing

/// The built daemon keeps P9, even if a provider allows so few streams that pushes wait for a free
/// stream.
@Suite(.serialized) struct RevocationTests {
  private static func share(
    _ verb: String, _ user: String, _ producer: inout Producer
  ) -> [String: Any] {
    var event = producer.event("updated", record: "R", zone: "Shared", user: "_owner")
    event["type"] = "zonerelay.share.\(verb)"
    event["data"] = [
      "database": "private",
      "zoneID": ["zoneName": "Shared", "ownerRecordName": "_owner"], "participant": user,
    ]
    return event
  }

  private static func flying(_ count: Int, _ daemon: RunningDaemon) async throws {
    #expect(
      try await Pause.until(seconds: 20) {
        try await daemon.control("/status")["lanes"]["inFlight"].int == count
      })
  }

  @Test func `no pending change of a revoked zone is pushed after its revocation`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let standin = try await Standin.start(in: workplace, ["--max-streams", "1"])
    try workplace.configure(window: "50ms")
    let daemon = try await RunningDaemon.start(in: workplace)
    var producer = Producer(daemon.web, key: workplace.producerKey)
    // The relay opens two connections, and the provider allows one stream on each. A push to one of
    // these tokens occupies a stream for 3 s.
    let slow = (0..<2).map { number in
      Phone(
        daemon.web, user: "_busy\(number)", in: workplace,
        pushToken: "736c6f770\(number)" + String(repeating: "0", count: 54))
    }
    let reader = Phone(
      daemon.web, user: "_reader", in: workplace,
      pushToken: "a100" + String(repeating: "0", count: 60))
    for phone in slow + [reader] {
      try await phone.register()
      _ = try await phone.modify(
        [
          [
            "operationType": "create",
            "subscription": ["subscriptionID": "db", "subscriptionType": "database"],
          ]
        ], database: phone.user == "_reader" ? "shared" : "private")
    }
    #expect(
      try await producer.post([Self.share("granted", "_reader", &producer)]).status == 202)
    #expect(
      try await Pause.until(seconds: 20) { try standin.pushes(to: reader.pushToken).count == 1 })
    let busy = slow.map { producer.event("updated", record: "R", zone: "B", user: $0.user) }
    #expect(try await producer.post(busy).status == 202)
    try await Self.flying(2, daemon)
    let change = producer.event("updated", record: "secret", zone: "Shared", user: "_owner")
    #expect(try await producer.post([change]).status == 202)
    try await Self.flying(3, daemon)
    let answer = try await producer.post([Self.share("revoked", "_reader", &producer)])
    #expect(answer.status == 202)
    let answered = Date()
    #expect(
      try await Pause.until(seconds: 30) {
        let lanes = try await daemon.control("/status")["lanes"]
        return ["gathering", "due", "inFlight", "resting"].allSatisfy { lanes[$0].int == 0 }
      })
    let times = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    let late = try standin.pushes(to: reader.pushToken).filter {
      try times.parse($0["time"].string ?? "") > answered
    }
    #expect(late.count == 1, "its device is told of the end, and of nothing before")
    #expect(await daemon.stop().status == 0)
    standin.stop()
  }
}

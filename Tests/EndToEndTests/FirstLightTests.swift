import Foundation
import Testing

/// A change travels from a producer to a phone, with the built binary, real sockets and the
/// stand-in.
@Suite(.serialized) struct FirstLightTests {
  private static let zones = ["One", "Two", "Three", "Four", "Five"]

  /// 1,000 changes in 5 zones within the window cause at most 2 pushes a phone, which name every
  /// zone. Catch-up gives exactly the net state, with small and with large pages (P2, P5–P8).
  @Test func `a burst causes at most two pushes, and catch-up returns every change`() async throws {
    let (workplace, standin) = try await Workplace.withStandin()
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    let user = "_abc"
    var phones = ["aa01", "aa02", "aa03"].map {
      Phone(
        daemon.web, user: user, in: workplace, pushToken: $0 + String(repeating: "0", count: 60))
    }
    for phone in phones { try await phone.register() }
    for name in Self.zones { try await phones[0].subscribe(toZone: name) }

    var producer = Producer(daemon.web, key: workplace.producerKey)
    try await Self.report(1_000, by: phones[2].client, of: user, &producer)

    let isWoken = try await Pause.until {
      try phones.prefix(2).allSatisfy { try !standin.pushes(to: $0.pushToken).isEmpty }
    }
    #expect(isWoken)
    let isQuiet = try await Pause.until {
      let status = try await daemon.status()
      return status["ledger"]["pending"].int == 0 && status["lanes"]["inFlight"].int == 0
    }
    #expect(isQuiet)
    for phone in phones.prefix(2) {
      let pushes = try standin.pushes(to: phone.pushToken)
      #expect((1...2).contains(pushes.count))
      var named: Set<String> = []
      for push in pushes {
        check(push, user: user)
        for zone in push["payload"]["zr"]["z"].array { named.insert(zone[0].string ?? "") }
      }
      #expect(named == Set(Self.zones))
    }
    #expect(try standin.pushes(to: phones[2].pushToken).isEmpty)

    for index in phones.indices {
      try await phones[index].catchUp(page: index == 0 ? 7 : 200)
      #expect(phones[index].zones == producer.net)
    }
    let own = try await phones[2].notifications()
    #expect(own.count == 5)
    #expect(own.allSatisfy { $0["own"].bool == true })
    let foreign = try await phones[0].notifications(page: 2)
    #expect(foreign.allSatisfy { $0["own"].bool == false })

    let status = try await daemon.status()
    #expect(status["ledger"]["balanced"].bool == true)
    #expect(status["healthy"].bool == true)
    #expect(await daemon.stop().status == 0)
  }

  /// Reports creations, updates and deletions of records with 97 names in each of 5 zones, in
  /// batches of 100.
  private static func report(
    _ count: Int, by client: String, of user: String, _ producer: inout Producer
  ) async throws {
    for first in stride(from: 0, to: count, by: 100) {
      let events = (first..<first + 100).map { number in
        producer.event(
          number % 7 == 6 ? "deleted" : number < 200 ? "created" : "updated",
          record: "R\(number % 97)", zone: zones[number % 5], user: user, client: client)
      }
      let answer = try await producer.post(events)
      #expect(answer.status == 202)
      #expect(answer.json["accepted"].int == 100)
    }
  }

  /// Checks `aps` and `ck` as CloudKit sends them, and the headers that Apple requires for a silent
  /// push.
  private func check(_ push: JSON, user: String) {
    #expect(push["status"].int == 200)
    let payload = push["payload"]
    #expect(payload["aps"].keys == ["content-available"])
    #expect(payload["ck"]["ce"].int == 2)
    #expect(payload["ck"]["cid"].string == Workplace.container)
    #expect(payload["ck"]["ckuserid"].string == user)
    #expect(payload["ck"]["fet"]["dbs"].int == 1)
    #expect(payload["ck"]["fet"]["zoid"].string == user)
    #expect(payload["ck"]["fet"]["sid"].string?.hasPrefix("sub-") == true)
    #expect(payload["ck"]["nid"].string.flatMap(UUID.init(uuidString:)) != nil)
    #expect(push["headers"]["apns-push-type"].string == "background")
    #expect(push["headers"]["apns-priority"].string == "5")
    #expect(push["headers"]["apns-topic"].string == Workplace.topic)
  }
}

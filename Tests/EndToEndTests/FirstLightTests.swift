import Foundation
import Testing

/// A change travels from a producer to a phone: the built binary, real sockets, the stand-in.
@Suite(.serialized) struct FirstLightTests {
  /// 1,000 changes in 5 zones within the window: at most 2 pushes a phone, every zone named, and
  /// catch-up gives exactly the net state, with small pages as with large ones (P2, P5–P8).
  @Test func aBurstBecomesOneWakeAndCatchUpIsWhole() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let standin = try Standin.start(in: workplace)
    defer { standin.stop() }
    try workplace.configure()
    let daemon = try await RunningDaemon.start(in: workplace)
    let user = "_abc"
    var phones = ["aa01", "aa02", "aa03"].map {
      Phone(daemon.web, user: user, in: workplace, pushToken: $0 + String(repeating: "0", count: 60))
    }
    for phone in phones { try await phone.register() }
    let names = ["One", "Two", "Three", "Four", "Five"]
    for name in names { try await phones[0].subscribe(toZone: name) }

    var producer = Producer(daemon.web, key: workplace.producerKey)
    let author = phones[2].client
    for batch in 0..<10 {
      var events: [[String: Any]] = []
      for index in 0..<100 {
        let number = batch * 100 + index
        let verb = number % 7 == 6 ? "deleted" : number < 200 ? "created" : "updated"
        events.append(
          producer.event(
            verb, record: "R\(number % 97)", zone: names[number % 5], user: user, client: author))
      }
      let answer = try await producer.post(events)
      #expect(answer.status == 202)
      #expect(answer.json["accepted"].int == 100)
    }

    let isWoken = try await Pause.until {
      try phones.prefix(2).allSatisfy { try !standin.pushes(to: $0.pushToken).isEmpty }
    }
    #expect(isWoken)
    let isQuiet = try await Pause.until {
      let status = try daemon.status()
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
      #expect(named == Set(names))
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

    let status = try daemon.status()
    #expect(status["ledger"]["balanced"].bool == true)
    #expect(status["healthy"].bool == true)
    #expect(daemon.stop().status == 0)
  }

  /// `aps` and `ck` as the reference says, headers as Apple wants them for a silent push.
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

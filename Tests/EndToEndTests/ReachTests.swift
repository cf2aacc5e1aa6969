import Foundation
import Testing

/// Which users a change reaches: public queries, shared zones, alerts.
@Suite(.serialized) struct ReachTests {
  private func event(
    _ id: String, _ type: String, _ data: [String: Any]
  ) -> [String: Any] {
    ["specversion": "1.0", "id": id, "source": "/records/reach", "type": type, "data": data]
  }

  /// A public change fires the query subscriptions whose filters match. Each push is an alert, and
  /// `ck` holds everything that the client needs.
  @Test func `a public change alerts the subscribers whose filter matches`() async throws {
    let (workplace, standin) = try await Workplace.withStandin(window: "0ms")
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    let fan = Phone(
      daemon.web, user: "_fan", in: workplace, pushToken: String(repeating: "fa", count: 32))
    let other = Phone(
      daemon.web, user: "_other", in: workplace, pushToken: String(repeating: "07", count: 32))
    for (phone, author) in [(fan, "ada"), (other, "bob")] {
      try await phone.register()
      try await Self.subscribe(phone, toArticlesBy: author)
    }
    let record: [String: Any] = [
      "recordName": "A1", "recordType": "Article",
      "fields": [
        "author": ["value": "ada", "type": "STRING"],
        "title": ["value": "Notes", "type": "STRING"],
      ],
    ]
    let producer = Producer(daemon.web, key: workplace.producerKey)
    let answer = try await producer.post([
      event("p1", "zonerelay.record.created", ["database": "public", "record": record])
    ])
    #expect(answer.status == 202, "\(answer.json)")
    #expect(try await Pause.until { try !standin.pushes(to: fan.pushToken).isEmpty })
    let push = try standin.pushes(to: fan.pushToken)[0]
    #expect(push["headers"]["apns-push-type"].string == "alert")
    #expect(push["headers"]["apns-priority"].string == "10")
    let payload = push["payload"]
    #expect(payload["aps"]["alert"].string == "New article")
    #expect(payload["aps"]["sound"].string == "default")
    let query = payload["ck"]["qry"]
    #expect(query["dbs"].int == 2)
    #expect(query["fo"].int == 1)
    #expect(query["rid"].string == "A1")
    #expect(query["zid"].string == "_defaultZone")
    #expect(query["zoid"].string == "_defaultOwner")
    #expect(query["af"]["title"].string == "Notes")
    #expect(try standin.pushes(to: other.pushToken).isEmpty)
    #expect(await daemon.stop().status == 0)
  }

  private static func subscribe(_ phone: Phone, toArticlesBy author: String) async throws {
    let filter: [String: Any] = [
      "comparator": "EQUALS", "fieldName": "author",
      "fieldValue": ["value": author, "type": "STRING"],
    ]
    let subscription: [String: Any] = [
      "subscriptionID": "by-author", "subscriptionType": "query", "firesOn": ["create"],
      "query": ["recordType": "Article", "filterBy": [filter]],
      "notificationInfo": [
        "alertBody": "New article", "soundName": "default", "additionalFields": ["title"],
      ],
    ]
    let saved = try await phone.modify(
      [["operationType": "create", "subscription": subscription]], database: "public")
    #expect(saved[0]["serverErrorCode"].isNull, "\(saved)")
  }

  /// A participant gets the changes of a shared zone from the grant on, reads the zone whole, and
  /// loses it with the revocation (P9).
  @Test func `a participant sees a shared zone from the grant to the revocation`() async throws {
    let (workplace, standin) = try await Workplace.withStandin(window: "0ms")
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    let guest = Phone(
      daemon.web, user: "_guest", in: workplace, pushToken: String(repeating: "9e", count: 32))
    try await guest.register()
    _ = try await guest.modify(
      [
        [
          "operationType": "create",
          "subscription": [
            "subscriptionID": "shared", "subscriptionType": "database",
            "notificationInfo": ["shouldSendContentAvailable": true],
          ],
        ]
      ], database: "shared")
    var producer = Producer(daemon.web, key: workplace.producerKey)
    let zone = ["zoneName": "Trips", "ownerRecordName": "_owner"]
    let before = producer.event("created", record: "A", zone: "Trips", user: "_owner")
    #expect(try await producer.post([before]).status == 202)
    func read() async throws -> JSON {
      try await daemon.web.post(
        "/database/1/\(guest.scope)/shared/changes/zone?clientId=\(guest.client)",
        ["zones": [["zoneID": zone]]], token: guest.userToken
      ).json["zones"][0]
    }
    #expect(try await read()["serverErrorCode"].string == "ZONE_NOT_FOUND")
    func share(_ id: String, _ verb: String) async throws {
      let answer = try await producer.post([
        event(
          id, "zonerelay.share.\(verb)",
          ["database": "private", "zoneID": zone, "participant": "_guest"])
      ])
      #expect(answer.status == 202, "\(answer.json)")
    }
    try await share("g1", "granted")
    #expect(try await read()["records"].array.count == 1)
    #expect(try await Pause.until { try !standin.pushes(to: guest.pushToken).isEmpty })
    let met = try standin.pushes(to: guest.pushToken)[0]["payload"]["ck"]["met"]
    #expect(met["dbs"].int == 3)
    #expect(met["zid"].string == "Trips")
    #expect(met["zoid"].string == "_owner")
    try await share("r1", "revoked")
    #expect(try await read()["serverErrorCode"].string == "ZONE_NOT_FOUND")
    #expect(await daemon.stop().status == 0)
  }
}

import Foundation

/// A device that registers, fetches, and keeps the state that it has read.
struct Phone {
  let web: Web
  let user: String
  let userToken: String
  let client: String
  let pushToken: String
  let scope = "\(Workplace.container)/development"
  /// Set only where the environment has several topics.
  let topic: String?

  /// Zone name → record name → change tag, as this phone has read them from the feeds.
  var zones: [String: [String: String]] = [:]
  var databaseToken: String?
  var zoneTokens: [String: String] = [:]

  init(
    _ web: Web, user: String, in workplace: Workplace, pushToken: String, topic: String? = nil
  ) {
    self.topic = topic
    self.web = web
    self.user = user
    self.pushToken = pushToken
    userToken = UserJWT.make(user: user, secret: workplace.userSecret)
    client = UUID().uuidString.lowercased()
  }

  func register() async throws {
    var body = ["apnsEnvironment": "development", "apnsToken": pushToken, "clientId": client]
    body["apnsTopic"] = topic
    let answer = try await web.post(
      "/device/1/\(scope)/tokens/register", body, token: userToken)
    guard answer.status == 200 else {
      throw TestFailure("register: \(answer.status) \(answer.json)")
    }
  }

  func modify(_ operations: [[String: Any]], database: String = "private") async throws -> JSON {
    let answer = try await web.post(
      "/database/1/\(scope)/\(database)/subscriptions/modify", ["operations": operations],
      token: userToken)
    guard answer.status == 200 else { throw TestFailure("modify: \(answer.status) \(answer.json)") }
    return answer.json["subscriptions"]
  }

  func subscribe(toZone zone: String) async throws {
    let answer = try await modify([
      [
        "operationType": "create",
        "subscription": [
          "subscriptionID": "sub-\(zone)", "subscriptionType": "zone",
          "zoneID": ["zoneName": zone, "ownerRecordName": user],
          "notificationInfo": ["shouldSendContentAvailable": true],
        ],
      ]
    ])
    guard answer[0]["serverErrorCode"].isNull else { throw TestFailure("subscribe: \(answer)") }
  }

  /// Reads the database feed and every zone that the feed names, until no page has more.
  mutating func catchUp(page: Int) async throws {
    var changed: [JSON] = []
    repeat {
      var body: [String: Any] = ["resultsLimit": page]
      if let databaseToken { body["syncToken"] = databaseToken }
      let answer = try await web.post(
        "/database/1/\(scope)/private/changes/database?clientId=\(client)", body,
        token: userToken)
      guard answer.status == 200 else {
        throw TestFailure("database: \(answer.status) \(answer.json)")
      }
      databaseToken = answer.json["syncToken"].string
      changed += answer.json["zones"].array
      if answer.json["moreComing"].bool != true { break }
    } while true
    for zone in changed {
      let name = zone["zoneID"]["zoneName"].string ?? ""
      if zone["deleted"].bool == true {
        zones[name] = nil
        zoneTokens[name] = nil
      } else {
        try await catchUp(zone: name, page: page)
      }
    }
  }

  mutating func catchUp(zone name: String, page: Int) async throws {
    repeat {
      var wanted: [String: Any] = [
        "zoneID": ["zoneName": name, "ownerRecordName": user], "resultsLimit": page,
      ]
      if let token = zoneTokens[name] { wanted["syncToken"] = token }
      let answer = try await web.post(
        "/database/1/\(scope)/private/changes/zone?clientId=\(client)", ["zones": [wanted]],
        token: userToken)
      let zone = answer.json["zones"][0]
      guard answer.status == 200, let token = zone["syncToken"].string else {
        throw TestFailure("zone \(name): \(answer.status) \(answer.json)")
      }
      zoneTokens[name] = token
      for record in zone["records"].array {
        let record = (name: record["recordName"].string ?? "", json: record)
        if record.json["deleted"].bool == true {
          zones[name, default: [:]][record.name] = nil
        } else {
          zones[name, default: [:]][record.name] = record.json["recordChangeTag"].string ?? ""
        }
      }
      if zone["moreComing"].bool != true { return }
    } while true
  }

  /// Everything in the notifications feed from the start.
  func notifications(page: Int = 200) async throws -> [JSON] {
    var all: [JSON] = []
    var token: String?
    repeat {
      var body: [String: Any] = ["resultsLimit": page]
      if let token { body["syncToken"] = token }
      let answer = try await web.post(
        "/device/1/\(scope)/notifications/changes?clientId=\(client)", body, token: userToken)
      guard answer.status == 200 else {
        throw TestFailure("notifications: \(answer.status) \(answer.json)")
      }
      all += answer.json["notifications"].array
      token = answer.json["syncToken"].string
      if answer.json["moreComing"].bool != true { return all }
    } while true
  }
}

internal import Foundation
internal import ZoneRelayClient

/// What a request is for: the last parts of its path.
struct Endpoint {
  let request: RelayRequest
  /// The path below the environment, such as `tokens/register` or `private/changes/zone`.
  private let place: [String]

  init(_ request: RelayRequest) {
    self.request = request
    let parts = request.url.path.split(separator: "/").map(String.init)
    // `/device/1/{container}/{environment}/…`, and `/courier/{installation}`.
    place = parts.first == "courier" ? parts : Array(parts.dropFirst(4))
  }

  func answer(by relay: isolated InMemoryRelay) async throws -> Answer {
    if place.first == "courier", let installation = place.last.flatMap(UUID.init(uuidString:)) {
      return await relay.poll(installation)
    }
    let user = try relay.user(of: request)
    let question = try Question(request)
    switch place.joined(separator: "/") {
    case "tokens/register", "tokens/create": return try relay.register(question, user)
    case "tokens/unregister": return try relay.unregister(question)
    case "wakes/acknowledge": return try relay.acknowledge(question)
    case "notifications/changes": return try relay.notifications(question, user)
    case "public/subscriptions/modify": return try relay.modify(question, user, "public")
    case "private/subscriptions/modify": return try relay.modify(question, user, "private")
    case "shared/subscriptions/modify": return try relay.modify(question, user, "shared")
    case "private/changes/database": return try relay.databaseChanges(question, user, .private)
    case "shared/changes/database": return try relay.databaseChanges(question, user, .shared)
    case "private/changes/zone": return try relay.zoneChanges(question, user, .private)
    case "shared/changes/zone": return try relay.zoneChanges(question, user, .shared)
    default: throw Answer(status: 404, code: "NOT_FOUND", reason: "no such path")
    }
  }
}

/// A request's JSON, and the installation that sends it.
struct Question {
  private let members: [String: Any]
  let installation: UUID?

  init(_ request: RelayRequest) throws {
    let body = request.body ?? Data()
    let json = body.isEmpty ? [:] : try JSONSerialization.jsonObject(with: body)
    members = json as? [String: Any] ?? [:]
    let query = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    let named = members["clientId"] as? String ?? query.first { $0.name == "clientId" }?.value
    installation = named.flatMap(UUID.init(uuidString:))
  }

  subscript(key: String) -> Any? { members[key] }

  func text(_ key: String) -> String? { members[key] as? String }

  func items(_ key: String) throws(Answer) -> [[String: Any]] {
    let items = members[key] as? [[String: Any]] ?? []
    guard items.count <= 200 else {
      throw Answer(
        status: 400, code: "BAD_REQUEST", reason: "\(key): split the batch in halves")
    }
    return items
  }
}

extension ZoneID {
  /// - Parameter user: the zone's owner if the JSON names none, or CloudKit's name for this user.
  init?(_ json: Any?, of user: String) {
    guard let members = json as? [String: Any], let name = members["zoneName"] as? String else {
      return nil
    }
    let owner = members["ownerRecordName"] as? String
    self.init(name: name, owner: owner == "__defaultOwner__" ? user : owner ?? user)
  }

  var json: [String: Any] { ["zoneName": name, "ownerRecordName": owner] }
}

internal import Foundation
internal import ZoneRelayClient

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
    guard items.count <= 200 else { throw Answer.badRequest("\(key): split the batch in halves") }
    return items
  }
}

extension ZoneID {
  /// - Parameter user: the zone's owner if the JSON names no owner, or names CloudKit's
  ///   `__defaultOwner__`.
  init?(_ json: Any?, of user: String) {
    guard let members = json as? [String: Any], let name = members["zoneName"] as? String else {
      return nil
    }
    let owner = members["ownerRecordName"] as? String
    self.init(name: name, owner: owner == "__defaultOwner__" ? user : owner ?? user)
  }

  var json: [String: Any] { ["zoneName": name, "ownerRecordName": owner] }
}

internal import Foundation
internal import ZoneRelayClient

extension InMemoryRelay {
  func answer(_ request: RelayRequest) async -> Answer {
    do {
      return try await carryOut(request)
    } catch let answer as Answer {
      return answer
    } catch {
      return .badRequest("\(error)")
    }
  }

  private func carryOut(_ request: RelayRequest) async throws -> Answer {
    // `/device/1/{container}/{environment}/…`, and `/courier/{installation}`.
    let parts = request.url.path.split(separator: "/").map(String.init)
    if parts.first == "courier", let installation = parts.last.flatMap(UUID.init(uuidString:)) {
      return await poll(installation)
    }
    let user = try user(of: request)
    let question = try Question(request)
    switch parts.dropFirst(4).joined(separator: "/") {
    case "tokens/register", "tokens/create": return try register(question, user)
    case "tokens/unregister": return unregister(question)
    case "wakes/acknowledge": return try acknowledge(question)
    case "notifications/changes": return try notifications(question, user)
    case "public/subscriptions/modify": return try modify(question, user, "public")
    case "private/subscriptions/modify": return try modify(question, user, "private")
    case "shared/subscriptions/modify": return try modify(question, user, "shared")
    case "private/changes/database": return try databaseChanges(question, user, .private)
    case "shared/changes/database": return try databaseChanges(question, user, .shared)
    case "private/changes/zone": return try zoneChanges(question, user, .private)
    case "shared/changes/zone": return try zoneChanges(question, user, .shared)
    default: throw Answer(status: 404, code: "NOT_FOUND", reason: "no such path")
    }
  }
}

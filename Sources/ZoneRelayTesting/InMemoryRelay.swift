internal import Foundation
public import ZoneRelayClient

/// A relay in memory, for the tests of an app: give it to `ZoneRelayClient` as its transport.
///
/// It keeps zones, feeds, subscriptions and devices, wakes devices at once, and answers as a relay
/// does, with pages, tokens and errors. The test plays the record server (``save(_:in:by:)`` and
/// similar methods) and chooses faults (``fail(_:)``). All calls may come from any task.
///
/// It has no budgets, windows or limits, and no notifications that show something, because a test
/// of an app does not see them. A query subscription with filters is refused.
public actor InMemoryRelay: RelayTransport {
  /// Where a client finds the relay. No request leaves the process.
  public nonisolated let address: RelayAddress

  var zones: [ZoneID: ZoneFeed] = [:]
  var users: [String: UserFeeds] = [:]
  var devices: [UUID: Device] = [:]
  /// The place of the newest change. All feeds number their places in one common order.
  var position = 0
  /// Tokens of an earlier era have expired.
  var era = 1
  var pageEntries = 200
  var polls: [UUID: (id: UUID, continuation: CheckedContinuation<Void, Never>)] = [:]
  private var refused: [String: Int] = [:]
  private var faults: [Fault] = []
  private var fault: @Sendable (RelayRequest) async -> Fault? = { _ in nil }
  private var seen: [RelayRequest] = []

  public init(container: String = "iCloud.com.example.test") {
    guard let url = URL(string: "https://relay.invalid") else {
      preconditionFailure("the URL of the relay in memory is a URL")
    }
    address = RelayAddress(url: url, container: container, environment: .development)
  }

  /// A token that the relay accepts as this user's, until ``refuseTokens(of:)`` is called.
  public func token(for user: String) -> UserToken {
    UserToken(user: user, text: "\(user)#\(refused[user] ?? 0)")
  }

  /// Answers 401 to all tokens of the user that were given so far.
  public func refuseTokens(of user: String) { refused[user, default: 0] += 1 }

  /// The next requests fail with these faults, one fault for each request, until all are used up.
  public func fail(_ faults: Fault...) { self.faults += faults }

  /// Sets a closure that the relay calls before each request. The closure returns the request's
  /// fault, or nil for no fault, and may wait to make the relay slow. The relay does not call the
  /// closure while faults given to ``fail(_:)`` as a list are left.
  public func fail(_ choose: @escaping @Sendable (RelayRequest) async -> Fault?) { fault = choose }

  /// All requests so far, in order, with those that failed.
  public var requests: [RelayRequest] { seen }

  /// Sets how many entries a page has at most. Without this call a page has at most 200.
  public func setPageEntries(_ count: Int) { pageEntries = max(1, count) }

  public func send(_ request: RelayRequest) async throws -> RelayAnswer {
    seen.append(request)
    let fault: Fault? =
      if faults.isEmpty { await self.fault(request) } else { faults.removeFirst() }
    switch fault {
    case .unreachable: throw URLError(.cannotConnectToHost)
    case .status(let status, let seconds):
      return Answer(
        status: status, code: "TRY_AGAIN_LATER", reason: "the test wants this", after: seconds
      ).relayed
    case .lostAnswer:
      _ = await answer(request)
      throw URLError(.networkConnectionLost)
    case nil: return await answer(request).relayed
    }
  }

  private func answer(_ request: RelayRequest) async -> Answer {
    do {
      return try await carryOut(request)
    } catch let answer as Answer {
      return answer
    } catch {
      return .badRequest("\(error)")
    }
  }

  private func carryOut(_ request: RelayRequest) async throws -> Answer {
    // A path is `/device/1/{container}/{environment}/…`, the same with `database` for `device`, or
    // `/courier/{installation}`.
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

  /// The user whose token the request carries.
  private func user(of request: RelayRequest) throws(Answer) -> String {
    guard let header = request.headers["Authorization"] else {
      throw Answer(status: 421, code: "AUTHENTICATION_REQUIRED", reason: "no user token")
    }
    let parts = header.dropFirst("Bearer ".count).split(separator: "#")
    guard parts.count == 2, Int(parts[1]) == refused[String(parts[0])] ?? 0 else {
      throw Answer(status: 401, code: "AUTHENTICATION_FAILED", reason: "the token has expired")
    }
    return String(parts[0])
  }

  func next() -> Int {
    position += 1
    return position
  }
}

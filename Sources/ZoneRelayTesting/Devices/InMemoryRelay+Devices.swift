public import Foundation
public import ZoneRelayClient

extension InMemoryRelay {
  /// The push that the installation would get now; nil if nothing is new for the installation. The
  /// relay counts the push as sent.
  public func nextWake(for installation: UUID) -> Wake? {
    devices[installation]?.nextWake(in: address.container).flatMap { Wake(json: $0.json) }
  }

  /// Whether a client waits for wakes of this installation with `wakes()`.
  public func isConnected(_ installation: UUID) -> Bool { polls[installation] != nil }

  func register(_ question: Question, _ user: String) throws(Answer) -> Answer {
    guard let installation = question.installation else {
      throw Answer.badRequest("clientId is missing")
    }
    if devices[installation]?.user != user { devices[installation] = Device(user: user) }
    let name = installation.uuidString.lowercased()
    return Answer([
      "clientId": name,
      "webcourierURL": address.url.appendingPathComponent("courier/\(name)").absoluteString,
    ])
  }

  func unregister(_ question: Question) -> Answer {
    if let installation = question.installation {
      devices[installation] = nil
      endPoll(of: installation)
    }
    return Answer([:])
  }

  func acknowledge(_ question: Question) throws(Answer) -> Answer {
    guard let installation = question.installation, let wake = question["w"] as? Int else {
      throw Answer.badRequest("clientId or w is missing")
    }
    devices[installation]?.acknowledge(wake)
    return Answer([:])
  }

  /// Waits for a wake. A second poll of the same installation ends the first.
  func poll(_ installation: UUID) async -> Answer {
    guard devices[installation] != nil else {
      return Answer(status: 410, code: "NOT_FOUND", reason: "the courier does not know the address")
    }
    endPoll(of: installation)
    if let wake = devices[installation]?.nextWake(in: address.container) { return wake }
    let id = UUID()
    await withTaskCancellationHandler {
      await withCheckedContinuation { polls[installation] = (id, $0) }
    } onCancel: {
      Task { await self.endPoll(of: installation, id) }
    }
    return devices[installation]?.nextWake(in: address.container) ?? .empty
  }

  private func endPoll(of installation: UUID, _ id: UUID) {
    if polls[installation]?.id == id { endPoll(of: installation) }
  }

  func endPoll(of installation: UUID) {
    polls.removeValue(forKey: installation)?.continuation.resume()
  }

  func modify(
    _ question: Question, _ user: String, _ database: String
  ) throws(Answer) -> Answer {
    var items: [[String: Any]] = []
    for operation in try question.items("operations") {
      let json = operation["subscription"] as? [String: Any] ?? [:]
      let id = json["subscriptionID"] as? String ?? ""
      if operation["operationType"] as? String == "delete" {
        let old = users[user]?.subscriptions[database]?.removeValue(forKey: id)
        items.append(
          old == nil
            ? Answer.error("NOT_FOUND", "no such subscription")
            : ["subscriptionID": id, "deleted": true])
        continue
      }
      do throws(Answer) {
        let saved = try SavedSubscription(json, of: user)
        users[user, default: UserFeeds()].subscriptions[database, default: [:]][id] = saved
        items.append(json)
      } catch {
        items.append(Answer.error("BAD_REQUEST", "the subscription is refused"))
      }
    }
    return Answer(["subscriptions": items])
  }
}

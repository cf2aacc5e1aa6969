internal import Foundation

extension ZoneRelayClient {
  /// Registers this installation for the signed-in user. Call it at each launch: the relay then
  /// knows the newest push token, and renews the courier's address, which is valid for 12 hours.
  public func register(_ address: PushAddress) async throws {
    try await perform { client in try await client.registerNow(address) }
  }

  func registerNow(_ address: PushAddress) async throws {
    let question = try RegistrationQuestion(address, of: installation, in: relay.environment)
    let path = address == .courier ? "tokens/create" : "tokens/register"
    let answer = try await ask(.device, path, question, RegistrationAnswer.self).answer
    guard let url = answer.webcourierURL.flatMap({ URL(string: $0) }) else {
      throw fail(.badAnswer, "tokens/register: the answer has no webcourierURL")
    }
    (courier.push, courier.url) = (address, url)
  }

  /// Saves subscriptions, so that changes wake this user's devices. To save a subscription again
  /// changes nothing. A subscription with the id of an earlier one replaces the earlier one.
  ///
  /// If the user has as many subscriptions as the relay allows, the relay names a time before which
  /// a subscription must not be sent again. Until then the same subscription gets the same error
  /// without a request, unless subscriptions are removed with ``remove(_:in:)``.
  ///
  /// - Returns: a result for each subscription, in the same order.
  /// - Throws: ``RelayError`` if a whole request failed. Requests before it have been carried out:
  ///   call again with all subscriptions.
  public func prepare(_ subscriptions: [Subscription]) async throws -> [SubscriptionResult] {
    let changes = subscriptions.map {
      SubscriptionChange(id: $0.id, database: $0.database, saved: $0)
    }
    return try await perform { client in try await client.modify(changes) }
  }

  /// Removes subscriptions by their ids. An id that the relay does not know is no error.
  ///
  /// - Returns: a result for each id, in the same order.
  /// - Throws: as ``prepare(_:)``.
  public func remove(
    _ subscriptions: [String], in database: Subscription.Database
  ) async throws -> [SubscriptionResult] {
    let changes = subscriptions.map { SubscriptionChange(id: $0, database: database) }
    return try await perform { client in try await client.modify(changes) }
  }

  private func modify(_ changes: [SubscriptionChange]) async throws -> [SubscriptionResult] {
    var results = changes.map { subscriptionWaits.result(of: $0, at: clock.now) }
    for database in Subscription.Database.allCases {
      let places = changes.indices.filter {
        changes[$0].database == database && results[$0] == nil
      }
      for start in stride(from: 0, to: places.count, by: Self.operationsPerRequest) {
        let batch = places[start...].prefix(Self.operationsPerRequest)
        let answer = try await ask(
          .database, "\(database.rawValue)/subscriptions/modify",
          SubscriptionsQuestion(batch.map { changes[$0] }), SubscriptionsAnswer.self
        ).answer
        guard let answered = answer.results(of: batch.map { changes[$0] }) else {
          throw fail(
            .badAnswer, "subscriptions/modify: the answer is not about the subscriptions asked for")
        }
        for (place, result) in zip(batch, answered) {
          results[place] = result
          subscriptionWaits.take(result, of: changes[place], at: clock.now)
        }
      }
    }
    return results.compactMap(\.self)
  }

  /// The relay refuses requests with more operations.
  private static let operationsPerRequest = 200
}

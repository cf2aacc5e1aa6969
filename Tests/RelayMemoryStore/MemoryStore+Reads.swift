package import RelayCore
import RelayEngine
import RelayMemory

extension MemoryStore {
  package func page(_ query: PageQuery) async throws(StoreError) -> PageAnswer {
    world.page(query)
  }

  package func zones(
    of user: UserID, _ database: Database, in scope: Scope, after zone: ZoneID?, limit: Int
  ) async throws(StoreError) -> [ZoneDigest] {
    world.zones(
      of: FeedKey(scope: scope, kind: .database(user, database)), after: zone, limit: limit)
  }

  package func isNearlyFull(_ feed: FeedKey) -> Bool { world.isNearlyFull(feed) }

  package func holdings(
    of feed: FeedKey, among subjects: Set<Subject>
  ) async throws(StoreError) -> Holdings {
    world.holdings(of: feed, among: subjects)
  }

  package func head(of feed: FeedKey) async throws(StoreError) -> FeedCursor {
    world.head(of: feed)
  }

  package func subscriptions(
    of user: UserID, _ database: Database, in scope: Scope, after serial: Position, limit: Int
  ) async throws(StoreError) -> [SubscriptionRow] {
    world.subscriptions(of: user, database, in: scope, after: serial, limit: limit)
  }

  package func subscriptions(
    named ids: [SubscriptionID], of user: UserID, _ database: Database, in scope: Scope
  ) async throws(StoreError) -> [Subscription] {
    world.subscriptions(named: ids, of: user, database, in: scope)
  }

  package func devices(
    of user: UserID?, in scope: Scope?, limit: Int
  ) async throws(StoreError) -> [DeviceRow] {
    let all = world.devices { key in
      (user == nil || key.user == user) && (scope == nil || key.scope == scope)
    }
    return Array(all.prefix(limit))
  }

  package func devices(
    of user: UserID, in scope: Scope, after client: ClientID?, limit: Int
  ) async throws(StoreError) -> [DeviceRow] {
    let rest = world.devices { key in
      key.user == user && key.scope == scope && (client.map { key.client > $0 } ?? true)
    }
    return Array(rest.prefix(limit))
  }

  package func devices(client: ClientID) async throws(StoreError) -> [DeviceRow] {
    world.devices { $0.client == client }
  }
}

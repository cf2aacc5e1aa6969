package import RelayCore
package import RelayEngine

extension MemoryStore {
  package func page(_ query: PageQuery) async throws(StoreError) -> PageAnswer {
    try read { world throws(StoreError) in world.page(query) }
  }

  package func zones(
    of user: UserID, _ database: Database, in scope: Scope, after zone: ZoneID?, limit: Int
  ) async throws(StoreError) -> [ZoneDigest] {
    try read { world throws(StoreError) in
      let key = FeedKey(scope: scope, kind: .database(user, database))
      let zones = world.visible(in: key).compactMap { entry -> ZoneID? in
        guard entry.life.isPresent, case .zone(let zone) = entry.subject else { return nil }
        return zone
      }
      return zones.filter { candidate in zone.map { $0 < candidate } ?? true }.sorted()
        .prefix(limit).map { zone in
          ZoneDigest(
            zone: zone, head: world.head(of: FeedKey(scope: scope, kind: .zone(zone))))
        }
    }
  }

  package func head(of feed: FeedKey) async throws(StoreError) -> Place {
    try read { world throws(StoreError) in world.head(of: feed) }
  }

  package func subscriptions(
    of user: UserID, _ database: Database, in scope: Scope
  ) async throws(StoreError) -> [Subscription] {
    try read { world throws(StoreError) in
      let home = world.partitions[Int(PartitionID.home(of: user, in: scope).number)]
      return home.subscriptions.values
        .filter {
          $0.scope == scope && $0.user == user && $0.subscription.database == database
        }
        .sorted { $0.serial < $1.serial }.map(\.subscription)
    }
  }

  package func devices(
    of user: UserID?, in scope: Scope?, limit: Int
  ) async throws(StoreError) -> [DeviceRow] {
    try devices(limit: limit) { key in
      (user == nil || key.user == user) && (scope == nil || key.scope == scope)
    }
  }

  package func devices(client: ClientID) async throws(StoreError) -> [DeviceRow] {
    try devices(limit: .max) { $0.client == client }
  }

  private func devices(
    limit: Int, where isWanted: (DeviceKey) -> Bool
  ) throws(StoreError) -> [DeviceRow] {
    try read { world throws(StoreError) in
      let all = world.partitions.flatMap { $0.devices.values }.filter { isWanted($0.key) }
      let sorted = all.sorted { ($0.key.client, $0.key) < ($1.key.client, $1.key) }
      return Array(sorted.prefix(limit))
    }
  }
}

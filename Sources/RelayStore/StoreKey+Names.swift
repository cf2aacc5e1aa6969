import Foundation
import RelayCore

extension StoreKey {
  init(scope: Scope) {
    self.init()
    text(scope.container)
    byte(scope.environment.rawValue)
  }

  init(scope: Scope, user: UserID) {
    self.init(scope: scope)
    text(user.name)
  }

  init(scope: Scope, user: UserID, database: Database) {
    self.init(scope: scope, user: user)
    byte(database.rawValue)
  }

  init(_ key: SubscriptionKey) {
    self.init(scope: key.scope, user: key.user, database: key.database)
    rest(key.id.name.utf8)
  }

  init(_ key: DeviceKey) {
    self.init(scope: key.scope, user: key.user)
    id(key.client.bits)
  }

  /// The unique key of an address: only one device in a scope may hold it.
  init(scope: Scope, address: Address) {
    self.init(scope: scope)
    byte(address.transport.rawValue)
    text(address.topic)
    rest(address.token)
  }

  init(scope: Scope, zone: ZoneID) {
    self.init(scope: scope)
    text(zone.owner.name)
    text(zone.name)
  }

  init(scope: Scope, zone: ZoneID, participant: UserID) {
    self.init(scope: scope, zone: zone)
    rest(participant.name.utf8)
  }

  init(_ key: MemberRow.Key) {
    self.init(scope: key.scope, zone: key.zone, participant: key.participant)
  }

  init(_ key: BadgeRow.Key) {
    self.init(scope: key.scope, user: key.user)
    rest(key.topic.utf8)
  }

  init(_ bits: Identifier) {
    self.init()
    id(bits)
  }

  private mutating func id(_ bits: Identifier) {
    word(bits.high)
    word(bits.low)
  }
}

extension StoreKeyReader {
  mutating func scope() throws -> Scope {
    let container = try text()
    guard let environment = Environment(rawValue: try byte()) else { throw Malformed() }
    return Scope(container: container, environment: environment)
  }

  mutating func device() throws -> DeviceKey {
    DeviceKey(scope: try scope(), user: UserID(try text()), client: try client())
  }

  mutating func client() throws -> ClientID {
    ClientID(Identifier(high: try word(), low: try word()))
  }

  mutating func badge() throws -> BadgeRow.Key {
    BadgeRow.Key(scope: try scope(), user: UserID(try text()), topic: try rest())
  }

  mutating func zone() throws -> (Scope, ZoneID) {
    let scope = try scope()
    let owner = UserID(try text())
    return (scope, ZoneID(name: try text(), owner: owner))
  }

  mutating func grant() throws -> MemberRow.Key {
    let (scope, zone) = try zone()
    return MemberRow.Key(scope: scope, zone: zone, participant: UserID(try rest()))
  }
}

import RelayCore
import RelayEngine
import RelayStore
import Testing

/// A push token belongs to one registration: the newest one, in whatever order folds come.
@Suite struct AddressConformance {
  static let users = (0..<40).map { UserID("_user\($0)") }

  @Test(arguments: StoreKind.allCases)
  func `a newer registration displaces the holder of its address`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    let old = bench.device(Self.users[0], at: 10)
    #expect(try await bench.save([old]).isEmpty)
    let new = bench.device(Self.users[1], at: 20)
    let made = try await bench.save([new])
    let serial = Position(new.registration, index: 60_000)
    #expect(
      made == [
        OutboxRow(
          source: bench.home(of: new),
          key: OutboxRow.Key(target: bench.home(of: old), serial: serial),
          message: .displaced(Displacement(device: old.key, registration: old.registration)))
      ])
    #expect(
      try await bench.store.load(bench.lease(of: bench.home(of: new))).outbox == made,
      "it is durable with the fold that made it")

    var renewed = old
    renewed.lane.hasAcknowledged = true
    #expect(try await bench.save([new]).isEmpty, "a repeat tells no user")
    #expect(try await bench.save([renewed]).isEmpty, "a lane row claims nothing")
    let rows = try await bench.store.devices(of: nil, in: nil, limit: 9)
    #expect(rows.map(\.address.place) == [old.address.place, old.address.place])
  }

  /// The newer registration gets the address, whether its user's key is lower or higher.
  @Test(arguments: StoreKind.allCases, [users[0], users[2]])
  func `an older registration that is folded later does not get the address`(
    kind: StoreKind, user: UserID
  ) async throws {
    var bench = try await Bench.fresh(kind)
    let new = bench.device(Self.users[1], at: 20)
    _ = try await bench.save([new])
    let old = bench.device(user, at: 10)
    let made = try await bench.save([old])
    #expect(made.map(\.key.target) == [bench.home(of: old)])
    #expect(made.map(\.source) == [bench.home(of: old)])
    #expect(try await bench.save([old]).isEmpty)
    // `new` still holds the token, and a third registration displaces `new`.
    let third = bench.device(Self.users[3], at: 30)
    #expect(try await bench.save([third]).map(\.key.target) == [bench.home(of: new)])
  }

  @Test(arguments: StoreKind.allCases)
  func `two registrations in one cut give the same holder in either order`(kind: StoreKind)
    async throws
  {
    for isReversed in [false, true] {
      var bench = try await Bench.fresh(kind)
      let old = bench.device(Self.users[0], at: 10)
      let new = bench.device(Self.users[1], at: 20)
      let made = try await bench.save(isReversed ? [new, old] : [old, new])
      #expect(made.map(\.key.target) == [bench.home(of: old)])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a displaced or removed device frees its address`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    var old = bench.device(Self.users[0], at: 10)
    _ = try await bench.save([old])
    _ = try await bench.save([bench.device(Self.users[1], at: 20)])
    old.address.token = []
    #expect(try await bench.save([old]).isEmpty)
    var bare = bench.device(Self.users[3], at: 25)
    bare.address.token = []
    #expect(try await bench.save([bare]).isEmpty, "the empty address has no owner")

    let holder = try await bench.store.devices(of: Self.users[1], in: Bench.scope, limit: 9)
    let gone = bench.cut(bench.home(of: holder[0])) { $0.devicesRemoved = holder.map(\.key) }
    _ = try await bench.store.fold(gone, leases: bench.leases)
    #expect(try await bench.save([bench.device(Self.users[2], at: 5)]).isEmpty)
    #expect(try await bench.store.devices(of: Self.users[1], in: Bench.scope, limit: 9).isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `devices are found by user, scope and client, in order of client`(
    kind: StoreKind
  ) async throws {
    var bench = try await Bench.fresh(kind)
    var rows: [DeviceRow] = []
    for index in [5, 2, 9, 1] {
      var row = bench.device(Self.users[index % 3], at: Int64(index))
      row.key.client = ClientID(Identifier(high: UInt64(index), low: 0))
      row.address.token = [UInt8(index)]
      rows.append(row)
      _ = try await bench.save([row])
    }
    rows.sort { $0.key.client < $1.key.client }
    #expect(try await bench.store.devices(of: nil, in: nil, limit: 9) == rows)
    #expect(try await bench.store.devices(of: nil, in: Bench.scope, limit: 2) == Array(rows[..<2]))
    let user = Self.users[2]
    let own = rows.filter { $0.key.user == user }
    #expect(try await bench.store.devices(of: user, in: Bench.scope, limit: 9) == own)
    #expect(try await bench.store.devices(of: user, in: nil, limit: 9) == own)
    var (read, last): ([DeviceRow], ClientID?) = ([], nil)
    for _ in 0...own.count {
      let page = try await bench.store.devices(
        of: user, in: Bench.scope, after: last, limit: 1)
      read += page
      last = page.last?.key.client ?? last
    }
    #expect(read == own && own.count == 2)
    #expect(try await bench.store.devices(client: rows[1].key.client) == [rows[1]])
    let other = Scope(container: Bench.scope.container, environment: .production)
    #expect(try await bench.store.devices(of: user, in: other, limit: 9).isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `the store lists a database's subscriptions in the order saved`(kind: StoreKind) async throws
  {
    var bench = try await Bench.fresh(kind)
    var draw = SeededRandom(seed: 3)
    var rows: [SubscriptionRow] = []
    for (index, name) in ["z", "a", "m", "b"].enumerated() {
      var subscription = draw.subscription()
      subscription.id = SubscriptionID(name)
      subscription.database = index == 2 ? .public : .private
      rows.append(
        SubscriptionRow(
          scope: Bench.scope, user: Bench.owner, serial: Position(bench.next()),
          subscription: subscription))
    }
    let saved = rows
    try await bench.fold { $0.subscriptions = saved.reversed() }
    let own = [rows[0], rows[1], rows[3]]
    for (after, limit, expected) in [
      (Position.zero, 9, own), (.zero, 3, own), (.zero, 2, Array(own.prefix(2))),
      (own[0].serial, 9, Array(own.dropFirst())), (own[1].serial, 1, [own[2]]),
      (own[2].serial, 9, []),
    ] {
      let list = try await bench.store.subscriptions(
        of: Bench.owner, .private, in: Bench.scope, after: after, limit: limit)
      #expect(list == expected)
    }
    let others = try await bench.store.subscriptions(
      of: UserID("_owner2"), .private, in: Bench.scope, after: .zero, limit: 9)
    #expect(others.isEmpty)
    // An unknown id and an id of another database are not found.
    let found = try await bench.store.subscriptions(
      named: ["b", "none", "m", "z"].map { SubscriptionID($0) }, of: Bench.owner, .private,
      in: Bench.scope)
    #expect(Set(found) == [rows[0].subscription, rows[3].subscription])
  }
}

extension Bench {
  /// A registration of the one address that all these tests use.
  mutating func device(_ user: UserID, at: Int64) -> DeviceRow {
    let key = DeviceKey(
      scope: Self.scope, user: user,
      client: ClientID(Identifier(high: 7, low: UInt64(bitPattern: Int64(at)))))
    let address = Address(
      transport: .apns, topic: "com.example.notes", token: [1, 2, 3],
      // The same token with another environment is still the same address.
      environment: (at / 10).isMultiple(of: 2) ? .production : .development)
    return DeviceRow(
      key: key, address: address, registeredAt: Instant(milliseconds: at),
      registration: next(.home(of: user, in: Self.scope)), lane: .empty)
  }

  func home(of row: DeviceRow) -> PartitionID { .home(of: row.key.user, in: row.key.scope) }

  func save(_ rows: [DeviceRow]) async throws -> [OutboxRow] {
    var cut = Cut(at: at, partitions: [])
    for row in rows {
      var part = PartitionCut(
        id: home(of: row), cursor: lasts[home(of: row), default: .zero])
      part.devices = [row]
      cut.partitions.append(part)
    }
    return try await store.fold(cut, leases: leases)
  }
}

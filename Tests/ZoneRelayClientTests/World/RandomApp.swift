import Foundation
import ZoneRelayTesting
@testable import ZoneRelayClient

/// One installation of an app whose process may end at any save, and whose sink and relay may fail.
final class RandomApp {
  private let relay: InMemoryRelay
  private let store = MemoryStore()
  private let account: Account
  private let clock = ManualClock()
  let sink = InMemoryCopy()
  private(set) var client: ZoneRelayClient
  private(set) var failures = 0

  init(_ relay: InMemoryRelay, user: String) throws {
    self.relay = relay
    account = Account(relay, user: user)
    client = try Self.client(relay, store, sink, clock, account)
  }

  private static func client(
    _ relay: InMemoryRelay, _ store: MemoryStore, _ sink: InMemoryCopy, _ clock: ManualClock,
    _ account: Account
  ) throws -> ZoneRelayClient {
    try ZoneRelayClient(
      relay.address, state: store, sink: sink, transport: relay, clock: clock,
      credentials: { try await account.token($0) })
  }

  /// The process ends and starts again. What the sink and the store have is still there.
  func restart() throws {
    store.allow(saves: .max)
    client = try Self.client(relay, store, sink, clock, account)
  }

  /// One step of the app, which may fail.
  func step(_ random: inout SeededRandom) async throws {
    if random.isOne(in: 8) { store.allow(saves: random.below(4)) }
    do {
      switch random.below(8) {
      case 0: try await client.fetchAllChanges()
      case 1: try await client.fetchAllChanges(.notifications)
      case 2: try await client.fetchAllChanges(.database(random.isOne(in: 2) ? .private : .shared))
      case 3: try await client.register(.courier)
      case 4: _ = try await client.prepare([.database("p", .private), .database("s", .shared)])
      case 5: try await switchUser()
      default:
        guard var wake = await relay.nextWake(for: client.installation) else { return }
        if random.isOne(in: 3) { wake = try waiting(wake, for: random.below(9)) ?? wake }
        // A push may be lost, or come twice.
        for _ in 0..<random.below(3) {
          try await client.handle(wake, random.isOne(in: 4) ? .later : .now)
        }
      }
    } catch {
      failures += 1
      if error is MemoryStore.Full || random.isOne(in: 4) { try restart() }
    }
  }

  /// The same wake, with the statement that its zones must wait for `seconds` seconds.
  private func waiting(_ wake: Wake, for seconds: Int) throws -> Wake? {
    let zones: [[Any]] = wake.zones.map { [$0.id.name, $0.id.owner, 1, 1] }
    let pending: [String: Any] = [
      "w": wake.number, "q": wake.hasNotifications ? 1 : 0, "m": wake.hasMore ? 1 : 0,
      "nb": clock.date.timeIntervalSince1970 + Double(seconds), "z": zones,
    ]
    return Wake(userInfo: ["ck": ["ckuserid": wake.user], "zr": pending])
  }

  private func switchUser() async throws {
    let next = await account.user == "_alice" ? "_bob" : "_alice"
    await account.signIn(nil)
    do {
      try await client.signOut()
    } catch {
      await account.signIn(next)
      throw error
    }
    await account.signIn(next)
  }

  /// What the copy must be: the records of all zones that the signed-in user may see.
  func expected() async -> [ZoneID: [String: String]] {
    await relay.visibleZones(of: account.user ?? "")
  }
}

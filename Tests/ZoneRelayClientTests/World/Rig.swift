import Foundation
import ZoneRelayTesting
@testable import ZoneRelayClient

/// A relay in memory and one client of the user `_alice`.
struct Rig {
  static let notes = ZoneID(name: "Notes", owner: "_alice")
  static let shared = ZoneID(name: "Plans", owner: "_bob")

  let relay: InMemoryRelay
  let sink = InMemoryCopy()
  let store = MemoryStore()
  let clock: ManualClock
  let account: Account
  let client: ZoneRelayClient

  init(
    transport: (any RelayTransport)? = nil, chance: Double = 0.5
  ) throws {
    let relay = InMemoryRelay()
    self.relay = relay
    clock = ManualClock(chance: chance)
    account = Account(relay)
    client = try Self.client(
      relay, store, sink, clock, account, transport: transport ?? relay)
  }

  /// Another process on the same installation: the old client's memory is lost.
  func restarted(sink: (any ChangeSink)? = nil) throws -> ZoneRelayClient {
    try Self.client(relay, store, sink ?? self.sink, clock, account, transport: relay)
  }

  private static func client(
    _ relay: InMemoryRelay, _ store: MemoryStore, _ sink: any ChangeSink, _ clock: ManualClock,
    _ account: Account, transport: any RelayTransport
  ) throws -> ZoneRelayClient {
    try ZoneRelayClient(
      relay.address, state: store, sink: sink, transport: transport, clock: clock,
      credentials: { try await account.token($0) })
  }

  /// A client of `_alice` with the given clock, and the relay of this client.
  static func client(
    clock: any ClientClock
  ) throws -> (client: ZoneRelayClient, relay: InMemoryRelay) {
    let relay = InMemoryRelay()
    let account = Account(relay)
    let client = try ZoneRelayClient(
      relay.address, state: MemoryStore(), sink: InMemoryCopy(), transport: relay, clock: clock,
      credentials: { try await account.token($0) })
    return (client, relay)
  }

  /// How many requests went to this endpoint, such as `changes/zone`.
  func requests(to path: String) async -> Int {
    await relay.requests.filter { $0.url.path.hasSuffix(path) }.count
  }
}

/// The app's sign-in service: which user is signed in, and how often the client asked.
actor Account {
  private let relay: InMemoryRelay
  private(set) var user: String?
  private(set) var asked: [CredentialReason] = []
  private var isStale = false
  private var renewal = Renewal.works

  /// What the service does when it is asked for a new token.
  enum Renewal { case works, fails, givesNone }
  struct Failed: Error {}

  init(_ relay: InMemoryRelay, user: String? = "_alice") {
    (self.relay, self.user) = (relay, user)
  }

  func signIn(_ user: String?) { self.user = user }

  /// From now on the service gives a token that the relay refuses, or with `false` a valid token.
  func goStale(_ isStale: Bool = true) { self.isStale = isStale }

  func renew(_ renewal: Renewal) { self.renewal = renewal }

  func token(_ reason: CredentialReason) async throws -> UserToken? {
    asked.append(reason)
    if reason == .refused, renewal == .fails { throw Failed() }
    guard let user, reason != .refused || renewal != .givesNone else { return nil }
    return isStale ? UserToken(user: user, text: "\(user)#-1") : await relay.token(for: user)
  }
}

/// A gate that holds its callers until it is opened.
actor Gate {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var arrivals: [CheckedContinuation<Void, Never>] = []
  private(set) var arrived = 0

  func pass() async {
    arrived += 1
    for arrival in arrivals { arrival.resume() }
    arrivals = []
    if !isOpen { await withCheckedContinuation { waiting.append($0) } }
  }

  /// Returns when a caller is at the gate.
  func untilArrival() async {
    if arrived == 0 { await withCheckedContinuation { arrivals.append($0) } }
  }

  func open() {
    isOpen = true
    for caller in waiting { caller.resume() }
    waiting = []
  }
}

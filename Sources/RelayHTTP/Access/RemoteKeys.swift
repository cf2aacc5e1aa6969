import RelayCore
import RelayWire
import Synchronization

/// Where a key set is fetched from.
package struct KeySetAddress: Hashable, Sendable {
  /// An https URL.
  package var url: String
  /// The path of a PEM file with the only certificate authorities to trust; `nil` means those of
  /// the system.
  package var trustRoots: String?

  package init(url: String, trustRoots: String? = nil) {
    self.url = url
    self.trustRoots = trustRoots
  }

  /// The part of the URL that logs and `status` show.
  var place: String { WebOrigin.text(of: url) }
}

/// The keys behind one URL: the keys fetched last, and the tasks that wait for newer keys.
///
/// Each instance is equal only to itself.
package final class RemoteKeys: Sendable, Hashable {
  struct Snapshot: Sendable {
    var set: KeySet
    var verifier: TokenVerifier
    /// A number that rises when the keys change. A token that older keys verified must be verified
    /// again.
    var generation: Int
    var fetchedAt: Instant
  }

  private struct State {
    var schedule: KeySchedule
    var snapshot: Snapshot?
    var waiters: [CheckedContinuation<Void, Never>] = []
    /// True once the first fetch has ended, with or without success.
    var isTried = false
    var isClosed = false
  }

  package let address: KeySetAddress
  private let state: Mutex<State>
  private let clock: @Sendable () -> Instant
  private let poke: @Sendable () -> Void

  /// - Parameters:
  ///   - clock: the boot clock.
  ///   - poke: called when a fetch may be due earlier than was planned.
  init(
    _ address: KeySetAddress, clock: @escaping @Sendable () -> Instant,
    poke: @escaping @Sendable () -> Void
  ) {
    (self.address, self.clock, self.poke) = (address, clock, poke)
    state = Mutex(State(schedule: KeySchedule(at: clock())))
  }

  /// The present keys. Waits for the end of the first fetch.
  ///
  /// - Returns: nil if no fetch has succeeded yet.
  func current() async -> Snapshot? {
    await wait { $0.snapshot == nil && !$0.isTried }
    return state.withLock { $0.snapshot }
  }

  /// Keys newer than `snapshot`, for a token that names a key which `snapshot` does not have; `nil`
  /// means that there are no newer keys. The calls of this method together cause at most one fetch
  /// a minute.
  func newer(than snapshot: Snapshot) async -> Snapshot? {
    let now = clock()
    poke()
    await wait { state in
      guard state.snapshot?.generation == snapshot.generation else { return false }
      return state.schedule.missed(at: now)
    }
    let fresh = state.withLock { $0.snapshot }
    return fresh?.generation == snapshot.generation ? nil : fresh
  }

  /// Waits for the end of the current or next fetch if `isWorthIt` returns true.
  private func wait(_ isWorthIt: @escaping @Sendable (inout State) -> Bool) async {
    await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
      let waits = state.withLock { state in
        guard !state.isClosed, isWorthIt(&state) else { return false }
        state.waiters.append(waiter)
        return true
      }
      if waits { poke() } else { waiter.resume() }
    }
  }

  // MARK: The cache's side

  /// Begins a fetch if a fetch is due.
  ///
  /// - Returns: true if a fetch was due. The caller must then fetch, and call `arrived` or
  ///   `failed`.
  func begin() -> Bool {
    let now = clock()
    return state.withLock { state in
      guard !state.isClosed, state.schedule.isDue(at: now) else { return false }
      state.schedule.begin(at: now)
      return true
    }
  }

  /// Stores fetched keys and ends every wait.
  ///
  /// - Returns: true if the keys have changed.
  @discardableResult
  func arrived(_ set: KeySet, maxAge: Span?) async -> Bool {
    let verifier = await TokenVerifier(set)
    let now = clock()
    return release { state in
      let old = state.snapshot
      let isNews = old?.set.keys != set.keys
      let generation = (old?.generation ?? 0) + (isNews ? 1 : 0)
      state.snapshot = Snapshot(
        set: set, verifier: verifier, generation: generation, fetchedAt: now)
      state.schedule.arrived(maxAge: maxAge, at: now)
      return isNews
    }
  }

  /// Notes that a fetch has failed, and ends every wait.
  ///
  /// - Returns: the age of the keys that stay in use; `nil` means that there are no keys.
  @discardableResult
  func failed() -> Span? {
    let now = clock()
    return release { state in
      state.schedule.failed(at: now)
      return state.snapshot.map { now - $0.fetchedAt }
    }
  }

  /// Ends every wait, because no further fetch follows.
  func close() { release { $0.isClosed = true } }

  /// Changes the state, and ends every wait.
  private func release<Value: Sendable>(_ change: (inout State) -> Value) -> Value {
    let (value, waiters) = state.withLock { state in
      state.isTried = true
      defer { state.waiters = [] }
      return (change(&state), state.waiters)
    }
    for waiter in waiters { waiter.resume() }
    return value
  }

  package static func == (left: RemoteKeys, right: RemoteKeys) -> Bool { left === right }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

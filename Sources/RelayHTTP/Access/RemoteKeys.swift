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
    self.address = address
    self.clock = clock
    self.poke = poke
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

/// When the keys behind a URL are fetched. Times are of the boot clock.
///
/// ```
/// start ─▶ due ─began─▶ under way ─arrived─▶ resting for the answer's age, 5 min to 24 h ─▶ due
///                          └─failed─▶ resting 5 s, doubled up to 5 min ─▶ due
/// resting ──a token names an unknown key, and the last try began a minute ago──▶ due
/// ```
struct KeySchedule: Sendable {
  /// Keys are kept at least this long, even if the answer allows less.
  static let ageMin = Span.minutes(5)
  static let ageMax = Span.hours(24)
  /// The age for an answer that does not state one.
  static let ageStandard = Span.hours(1)
  static let unknownGap = Span.minutes(1)
  static let retryFirst = Span.seconds(5)
  static let retryMax = Span.minutes(5)

  private(set) var isUnderWay = false
  private(set) var due: Instant
  private var began: Instant?
  private var failures = 0

  init(at now: Instant) { due = now }

  func isDue(at now: Instant) -> Bool { !isUnderWay && due <= now }

  mutating func begin(at now: Instant) {
    isUnderWay = true
    began = now
  }

  /// - Parameter maxAge: the age that the answer states; `nil` means that it states none.
  mutating func arrived(maxAge: Span?, at now: Instant) {
    isUnderWay = false
    failures = 0
    due = now + min(max(maxAge ?? Self.ageStandard, Self.ageMin), Self.ageMax)
  }

  mutating func failed(at now: Instant) {
    isUnderWay = false
    due = now + min(Self.retryFirst * (1 << Int64(min(failures, 10))), Self.retryMax)
    failures += 1
  }

  /// Notes that a token names a key which is not in the set. The next fetch is then due at once, if
  /// the last fetch began at least `unknownGap` ago.
  ///
  /// - Returns: true if a fetch is under way or comes at once, so that the caller should wait.
  mutating func missed(at now: Instant) -> Bool {
    if isUnderWay || due <= now { return true }
    guard began.map({ now - $0 >= Self.unknownGap }) ?? true else { return false }
    due = now
    return true
  }
}

public import Foundation

/// Keeps an app's copy of its zones equal to what the relay knows, for one installation.
///
/// The app gives every push to ``handle(_:_:)``, calls ``fetchAllChanges(_:)`` when it starts and
/// ``refresh(_:)`` when its user looks at it. The client promises:
///
/// - **A page is applied before its token is stored.** After a crash the page may come again.
/// - **One thing at a time.** Calls of ``ChangeSink`` never overlap. All calls that come during a
///   round of fetching share the next round.
/// - **An expired token costs little.** The client reads a digest, and then only the zones that
///   differ.
/// - **No storms.** After a failure the client waits before its next request: as long as the relay
///   asks and up to a fifth longer; if the relay asks for no wait, 1 s, doubled with each failure
///   up to 5 min, and up to a fifth longer or shorter. ``refresh(_:)`` waits one second at most.
/// - **Users never mix.** When another user signs in, ``ChangeSink/accountChanged(from:to:)`` is
///   called before anything of that user is fetched, and no token of the earlier user is kept.
///
/// A call that throws has lost nothing: the next round brings what the failed one did not.
public actor ZoneRelayClient {
  /// The installation's name at the relay. Tell it to the record server with every change that this
  /// device makes, so that the device is not woken by its own changes.
  public nonisolated let installation: UUID

  let relay: RelayAddress
  let store: any StateStore
  let sink: any ChangeSink
  let transport: any RelayTransport
  let credentials: @Sendable (CredentialReason) async throws -> UserToken?
  let clock: any ClientClock

  var state: ClientState
  /// The state as it was stored last, and the time before which progress is not stored.
  private var saved: (state: ClientState, nextProgress: Duration)
  var token: UserToken?
  /// The token that the relay refused, if this was the last failure.
  var refused: UserToken?
  var backoff = Backoff()
  var queue = WorkQueue()
  var calls: [WorkQueue.Caller: Call] = [:]
  var fetchers: [WorkQueue.Caller: CheckedContinuation<FetchReport, any Error>] = [:]
  /// Callers of `refresh`.
  var urgent: Set<WorkQueue.Caller> = []
  var pause: Task<Void, any Error>?
  var courier = CourierAddress()
  var subscriptionWaits = SubscriptionWaits()
  var statusBoard = StatusBoard()

  /// - Parameters:
  ///   - state: keeps the client's tokens, for this installation and this client alone.
  ///   - sink: the app's copy of its zones.
  ///   - credentials: gives the signed-in user's token; nil means that no user is signed in.
  /// - Throws: the error of `state.load`, or ``RelayError/Code/badState`` if the stored bytes are
  ///   no state of a client. Do not delete the state then without a look at it: the installation
  ///   would get another name, and all pages again.
  public init(
    _ relay: RelayAddress, state: any StateStore, sink: any ChangeSink,
    transport: any RelayTransport = URLSessionTransport(),
    credentials: @escaping @Sendable (CredentialReason) async throws -> UserToken?
  ) throws {
    try self.init(
      relay, state: state, sink: sink, transport: transport, clock: SystemClientClock(),
      credentials: credentials)
  }

  init(
    _ relay: RelayAddress, state store: any StateStore, sink: any ChangeSink,
    transport: any RelayTransport, clock: any ClientClock,
    credentials: @escaping @Sendable (CredentialReason) async throws -> UserToken?
  ) throws {
    let stored = try store.load()
    var state = try ClientState(stored: stored)
    // Without this save the installation would have another name after the next start.
    if stored == nil { try store.save(state.stored) }
    saved = (state, .zero)
    state.enter("\(relay.container)/\(relay.environment.rawValue)")
    self.relay = relay
    self.store = store
    self.sink = sink
    self.transport = transport
    self.clock = clock
    self.credentials = credentials
    self.state = state
    installation = state.installation
    statusBoard.show(state.user == nil ? .signedOut : .idle)
  }

  /// Fetches what has changed, in a round that begins after this call, and returns when the sink
  /// has applied all of it. The round also brings what earlier wakes have named. Zones that must
  /// wait (``FetchReport/deferredUntil``) are fetched as well if the app asks for everything or for
  /// the zone itself.
  ///
  /// - Throws: ``RelayError``, or the error of the sink, the store or `credentials`. Pages that
  ///   were applied before the error stay applied. `CancellationError` if the calling task is
  ///   cancelled; other callers are not disturbed, and without any caller the round stops before
  ///   its next page.
  @discardableResult
  public func fetchAllChanges(_ scope: Scope = .everything) async throws -> FetchReport {
    state.want(scope)
    return try await joinRound()
  }

  /// Does the same as ``fetchAllChanges(_:)`` with a shorter wait after failures: the next request
  /// is sent at once, or a second after the last failure, however many calls there are. Call it
  /// when a person waits for the answer, or when the system says that the network is back. The next
  /// request may be one of another call that waits.
  ///
  /// - Throws: as ``fetchAllChanges(_:)``. If the relay itself has asked for a longer wait
  ///   (`Retry-After`), the error is ``RelayError/Code/busy``: it comes at once, its `message`
  ///   names the time, and its `retryAfter` is what is left of the wait. The next round brings what
  ///   the call asked for.
  @discardableResult
  public func refresh(_ scope: Scope = .everything) async throws -> FetchReport {
    state.want(scope)
    return try await joinRound(isUrgent: true)
  }

  /// Fetches what a push names, or keeps it for the next round.
  ///
  /// If the push's number shows that an earlier push may be missing, or if the push does not name
  /// everything, the client fetches everything. A push of another user or container is ignored.
  ///
  /// - Parameter when: `.now` fetches as ``fetchAllChanges(_:)`` does, without the zones that must
  ///   wait. `.later` returns when the wake is stored and acknowledged.
  /// - Throws: as ``fetchAllChanges(_:)``.
  @discardableResult
  public func handle(_ wake: Wake, _ when: FetchTime = .now) async throws -> FetchReport {
    guard wake.container?.hasSameBytes(as: relay.container) ?? true,
      state.note(wake, at: clock.date)
    else { return FetchReport(isIgnored: true) }
    switch when {
    case .now: return try await joinRound()
    case .later:
      try save()
      return try await perform { client in
        // The user may have changed while the call waited for its turn, or since the last launch.
        if client.state.isOf(wake.user) { _ = try await client.user() }
        guard client.state.isOf(wake.user) else { return FetchReport(isIgnored: true) }
        try await client.acknowledge(wake.number)
        client.courier.handledWake = wake.number
        return FetchReport(deferredUntil: client.state.waitsUntil)
      }
    }
  }

  /// Stores the state, if it differs from the stored one.
  func save() throws {
    guard state != saved.state else { return }
    let begin = clock.now
    try store.save(state.stored)
    saved = (state, clock.now + (clock.now - begin) * Self.progressPause)
  }

  /// Stores what a round has read so far, so that a crash repeats little. To store a state of very
  /// many zones takes long, so this method then does nothing for a time: storing takes a tenth of
  /// the time at most. The round's end stores the rest.
  func saveProgress() throws {
    guard clock.now >= saved.nextProgress, !state.hasReadAsMuch(as: saved.state) else { return }
    try save()
  }

  /// After a save, `saveProgress` stores nothing for this many times as long as the save took.
  private static let progressPause = 9
}

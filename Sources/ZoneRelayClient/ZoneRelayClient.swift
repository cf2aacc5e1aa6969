public import Foundation

/// Keeps an app's copy of its zones equal to what the relay knows, for one installation.
///
/// The app hands every push to ``handle(_:_:)`` and calls ``fetchAllChanges(_:)`` when it starts and
/// when its user looks at it. The client promises:
///
/// - A page is applied before its token is stored. After a crash the page may come again.
/// - One round of fetching runs at a time. Calls during a round share the next round.
/// - An expired token costs a digest, and then only the zones that differ.
/// - After a failure the client waits before its next request, as the relay asks or 1 s to 5 min.
/// - Nothing of one user is ever mixed with another user's.
public actor ZoneRelayClient {
  /// The installation's name at the relay. Send it to the record server with every change, so that
  /// this device is not woken by its own changes.
  public nonisolated let installation: UUID

  let relay: RelayAddress
  let store: any StateStore
  let sink: any ChangeSink
  let transport: any RelayTransport
  let credentials: @Sendable (CredentialReason) async throws -> UserToken?
  let clock: any ClientClock

  var state: ClientState
  var token: UserToken?
  var backoff = Backoff()
  var turns = FetchTurns()
  var answers: [FetchTurns.Caller: CheckedContinuation<FetchReport, any Error>] = [:]

  /// - Parameter credentials: gives the signed-in user's token; nil means that nobody is signed in.
  /// - Throws: the error of `state.load`, or ``RelayError/Code/badState`` if its bytes are no state.
  ///   Do not delete the state then: the app would take all pages again under another name.
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
    let state = try ClientState(stored: stored)
    // A name that is not stored would be another one after the next start.
    if stored == nil { try store.save(state.stored) }
    self.relay = relay
    self.store = store
    self.sink = sink
    self.transport = transport
    self.clock = clock
    self.credentials = credentials
    self.state = state
    installation = state.installation
  }

  /// Fetches everything that changed, and returns when the sink has applied it. A call during a
  /// round returns after the next round, which begins after the call was made.
  ///
  /// - Throws: ``RelayError``, or the sink's or the store's error. Pages that were applied before the
  ///   error stay applied. Cancelling one call does not disturb other calls.
  @discardableResult
  public func fetchAllChanges(_ scope: Scope = .everything) async throws -> FetchReport {
    try await join(FetchPlan(scope))
  }

  /// Fetches what a push names, or notes it for the next round.
  ///
  /// A number that was left out, or a push that names not everything, fetches everything. A push
  /// of another user is ignored.
  @discardableResult
  public func handle(_ wake: Wake, _ when: FetchTime = .now) async throws -> FetchReport {
    guard let plan = state.plan(of: wake) else {
      var report = FetchReport()
      report.isIgnored = true
      return report
    }
    // What a failed round did not bring, the next round brings.
    state.deferred.add(plan)
    switch when {
    case .now: return try await join(plan)
    case .later:
      try save()
      try await acknowledge(wake.number)
      var report = FetchReport()
      report.deferredUntil = state.waitsUntil?.timeIntervalSince1970
      return report
    }
  }

  func save() throws { try store.save(state.stored) }
}

extension ZoneRelayClient {
  /// Waits for a round that begins after now.
  private func join(_ plan: FetchPlan) async throws -> FetchReport {
    let caller = turns.newCaller()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard !Task.isCancelled else {
          return continuation.resume(throwing: CancellationError())
        }
        answers[caller] = continuation
        if turns.join(caller, plan) { Task { await runRounds() } }
      }
    } onCancel: {
      Task { await self.leave(caller) }
    }
  }

  private func leave(_ caller: FetchTurns.Caller) {
    turns.leave(caller)
    answers.removeValue(forKey: caller)?.resume(throwing: CancellationError())
  }

  private func runRounds() async {
    while let plan = turns.begin() {
      let result: Result<FetchReport, any Error>
      do { result = .success(try await round(plan)) } catch { result = .failure(error) }
      for caller in turns.end() { answers.removeValue(forKey: caller)?.resume(with: result) }
    }
  }
}

extension ZoneRelayClient {
  /// A call of one caller that waits for its turn or runs. Each call is answered once: by its end,
  /// or earlier because its caller left.
  struct Call {
    let run: @Sendable (isolated ZoneRelayClient) async -> Void
    let cancel: @Sendable () -> Void
  }

  /// Runs a call when no other work of the client runs, and returns its result.
  ///
  /// A cancelled caller gets `CancellationError` at once. A call that has begun goes on to its end,
  /// because its request may have reached the relay.
  func perform<Value: Sendable>(
    stopsOthers: Bool = false,
    _ work: @escaping @Sendable (isolated ZoneRelayClient) async throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    let caller = queue.newCaller()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        calls[caller] = Call {
          let result: Result<Value, any Error>
          do {
            result = .success(try await work($0))
            $0.backoff.ended()
          } catch {
            result = .failure(Self.reason(for: error))
          }
          guard $0.calls.removeValue(forKey: caller) != nil else { return }
          continuation.resume(with: result)
        } cancel: {
          continuation.resume(throwing: CancellationError())
        }
        let starts = queue.call(caller, stopsOthers: stopsOthers)
        endPauseIfUnwanted()
        if starts { startWork() }
      }
    } onCancel: {
      Task { await self.leave(caller) }
    }
  }

  /// Waits for a round that begins after now.
  ///
  /// - Parameter isUrgent: whether the caller gets an error rather than a long wait.
  func joinRound(isUrgent: Bool = false) async throws -> FetchReport {
    try Task.checkCancellation()
    let caller = queue.newCaller()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        fetchers[caller] = continuation
        let starts = queue.fetch(caller)
        if isUrgent {
          urgent.insert(caller)
          hurry()
        }
        if starts { startWork() }
      }
    } onCancel: {
      Task { await self.leave(caller) }
    }
  }

  func leave(_ caller: WorkQueue.Caller, _ reason: any Error = CancellationError()) {
    queue.leave(caller)
    urgent.remove(caller)
    calls.removeValue(forKey: caller)?.cancel()
    fetchers.removeValue(forKey: caller)?.resume(throwing: reason)
    endPauseIfUnwanted()
  }

  /// The work has no parent task: it serves many callers, and the cancelling of one must not end
  /// it.
  private func startWork() {
    Task { await runWork() }
  }

  private func runWork() async {
    while let work = queue.next() {
      switch work {
      case .call(let caller):
        if let call = calls[caller] { await call.run(self) }
        _ = queue.end()
      case .round:
        let result: Result<FetchReport, any Error>
        do {
          result = .success(try await round())
          backoff.ended()
        } catch {
          result = .failure(Self.reason(for: error))
        }
        for caller in queue.end() {
          urgent.remove(caller)
          fetchers.removeValue(forKey: caller)?.resume(with: result)
        }
      }
    }
    if statusBoard.status != .signedOut { show(.idle) }
  }

  /// A caller that still waits for stopped work learns why it was stopped.
  private static func reason(for error: any Error) -> any Error {
    error is WorkStopped ? RelayError(.signedOut, "the user signed out during the call") : error
  }

  /// Waits before a request. The wait ends early if it was shortened, and with an error if no
  /// caller waits for the work any more.
  func pause(for time: Duration) async throws {
    let pause = Task { [clock] in try await clock.sleep(for: time) }
    self.pause = pause
    defer { self.pause = nil }
    endPauseIfUnwanted()
    do { try await pause.value } catch { try checkWanted() }
  }

  private func endPauseIfUnwanted() {
    if !queue.isWanted { pause?.cancel() }
  }

  func checkWanted() throws {
    guard queue.isWanted else { throw WorkStopped() }
  }
}

/// No caller waits for the running work any more, or the user signs out.
private struct WorkStopped: Error {}

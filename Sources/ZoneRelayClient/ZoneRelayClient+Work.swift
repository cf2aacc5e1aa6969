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
    try await wait { caller, continuation in
      calls[caller] = Call {
        let result = await $0.result(of: work)
        guard $0.calls.removeValue(forKey: caller) != nil else { return }
        continuation.resume(with: result)
      } cancel: {
        continuation.resume(throwing: CancellationError())
      }
      let starts = queue.call(caller, stopsOthers: stopsOthers)
      endPauseIfUnwanted()
      return starts
    }
  }

  /// Waits for a round that begins after now.
  ///
  /// - Parameter isUrgent: whether the caller gets an error rather than a long wait.
  func joinRound(isUrgent: Bool = false) async throws -> FetchReport {
    try await wait { caller, continuation in
      fetchers[caller] = continuation
      let starts = queue.fetch(caller)
      if isUrgent {
        urgent.insert(caller)
        hurry()
      }
      return starts
    }
  }

  /// Waits as a new caller, until it is answered or its task is cancelled.
  ///
  /// - Parameter join: gives the caller its place in the queue, and returns whether the client must
  ///   start to work.
  private func wait<Value: Sendable>(
    _ join: (WorkQueue.Caller, CheckedContinuation<Value, any Error>) -> Bool
  ) async throws -> Value {
    try Task.checkCancellation()
    let caller = queue.newCaller()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        // The work has no parent task: it serves many callers, and the cancelling of one must not
        // end it.
        if join(caller, continuation) { Task { await runWork() } }
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

  private func runWork() async {
    while let work = queue.next() {
      switch work {
      case .call(let caller):
        await calls[caller]?.run(self)
        _ = queue.end()
      case .round:
        let result = await result(of: { try await $0.round() })
        for caller in queue.end() {
          urgent.remove(caller)
          fetchers.removeValue(forKey: caller)?.resume(with: result)
        }
      }
    }
    if statusBoard.status != .signedOut { show(.idle) }
  }

  /// Runs a piece of work. A caller that still waits for stopped work learns why it was stopped.
  private func result<Value>(
    of work: (isolated ZoneRelayClient) async throws -> Value
  ) async -> Result<Value, any Error> {
    do {
      let value = try await work(self)
      backoff.ended()
      return .success(value)
    } catch is WorkStopped {
      return .failure(RelayError(.signedOut, "the user signed out during the call"))
    } catch {
      return .failure(error)
    }
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

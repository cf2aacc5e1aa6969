import RelayCore

/// Makes store calls one after another beside the loop. The loop starts a job only after the
/// earlier job has ended, so no jobs queue.
struct StoreWorker<Job: Sendable, Outcome: Sendable>: Sendable {
  private let jobs: AsyncStream<Job>
  private let source: AsyncStream<Job>.Continuation

  init() { (jobs, source) = AsyncStream.makeStream(bufferingPolicy: .unbounded) }

  func start(_ job: Job) { source.yield(job) }
  func finish() { source.finish() }

  private func run(
    _ work: (Job) async throws(StoreError) -> Outcome,
    done: (Result<Outcome, StoreError>) -> Void
  ) async {
    for await job in jobs {
      do throws(StoreError) {
        done(.success(try await work(job)))
      } catch {
        done(.failure(error))
      }
    }
  }
}

extension StoreWorker<[JournalEntry], Void> {
  /// Writes each commit to the journal, and reports its outcome to the loop, until `finish` is
  /// called.
  func run(on store: any Store, _ leases: [Lease], into inbox: Inbox) async {
    await run { entries throws(StoreError) in
      try await store.append(entries, leases: leases)
    } done: {
      inbox.post(.input(.appended($0)))
    }
  }
}

extension StoreWorker<FoldJob, FoldResult> {
  /// Makes each fold and each trim, and reports its outcome to the loop, until `finish` is called.
  func run(on store: any Store, _ leases: [Lease], into inbox: Inbox) async {
    await run { job throws(StoreError) in
      try await job.run(on: store, leases)
    } done: {
      inbox.post(.input($0.input))
    }
  }
}

/// A job of the folding worker: a fold, or a trim of entries that are too old.
enum FoldJob: Sendable {
  case fold(Cut)
  case trim(tombstones: Instant, notifications: Instant, feedback: Instant)

  func run(on store: any Store, _ leases: [Lease]) async throws(StoreError) -> FoldResult {
    switch self {
    case .fold(let cut):
      return .folded(try await store.fold(cut, leases: leases))
    case .trim(let tombstones, let notifications, let feedback):
      return .trimmed(
        try await store.trim(
          tombstones: tombstones, notifications: notifications, feedback: feedback,
          limit: Coordinator.trimRows, leases: leases))
    }
  }
}

enum FoldResult: Sendable {
  case folded([OutboxRow])
  case trimmed(Int)
}

extension Result where Success == FoldResult, Failure == StoreError {
  var input: Coordinator.Input {
    switch self {
    case .success(.folded(let rows)): .folded(.success(rows))
    case .success(.trimmed(let rows)): .trimmed(rows: rows)
    case .failure(let error): .folded(.failure(error))
    }
  }
}

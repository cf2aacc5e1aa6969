import RelayCore
import RelayEngine

/// What all reads of the store have in common: each read waits until every fact that was answered
/// earlier is visible, and callers take turns to read.
struct StoreAccess: Sendable {
  let relay: any RelayService
  let reader: any FeedReader
  let reads: StoreReads
  /// Turns to read the store. Without turns, the many pages of one user would take all of the
  /// store's readers and all threads.
  let looks: CallerTurns
  let clock: any ClockReader
  let answerWithin: Span

  /// The deadline of a request that begins to read now, on the boot clock. The deadline limits the
  /// waits for folds and for turns together.
  var patience: Instant { clock.boot() + answerWithin }

  /// Waits until every fact that was answered before this call is visible in `places` (P4). Waits
  /// for all places at once, so that a request waits no longer for many places than for one.
  func visible(_ places: [ReadTarget], until: Instant) async throws {
    try await relay.visible(places, until: until)
  }

  /// Reads the store once for a device, after every fact that was answered before this call is
  /// visible in `place`; `nil` means that the request has waited already.
  func read<Value>(
    _ request: DeviceRequest, _ place: ReadTarget? = nil, _ reading: () async throws -> Value
  ) async throws -> Value {
    if let place { try await visible([place], until: request.until) }
    return try await read(for: request.caller, until: request.until, reading)
  }

  /// Reads the store once, when it is the caller's turn.
  func read<Value>(
    for caller: CallerID, until: Instant, _ reading: () async throws -> Value
  ) async throws -> Value {
    do {
      // One request may read two hundred times, so the deadline is checked even if a place is free.
      if clock.boot() < until,
        let value = try await looks.work(for: caller, until: until, reading)
      {
        reads.worked()
        return value
      }
    } catch let error as StoreError {
      reads.failed(error)
      throw error
    }
    throw Unavailable.storeSlow
  }
}

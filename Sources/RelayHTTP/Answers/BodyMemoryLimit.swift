import Hummingbird
import NIOCore
import Synchronization

/// Bounds the memory of bodies that are read at the same time, in total and for each caller. Bodies
/// whose sender is known only after the body has arrived have a small limit of their own, so that
/// unauthenticated senders take no room from known callers.
final class BodyMemoryLimit: Sendable {
  private struct State {
    var known: Shares<CallerID>
    var claimed: Shares<CallerID>
  }

  private let limits: HTTPLimits
  private let state: Mutex<State>

  init(_ limits: HTTPLimits) {
    self.limits = limits
    state = Mutex(
      State(
        known: Shares(most: limits.bodyBytesInFlight),
        claimed: Shares(most: limits.unverifiedBodyBytes)))
  }

  /// The bytes of all bodies.
  var bytes: Int { state.withLock { $0.known.all + $0.claimed.all } }

  /// Returns the room of one body, with no bytes at first. Call `leave` on the room when the body
  /// is no longer needed.
  func room(for caller: CallerID) -> BodyRoom { BodyRoom(self, for: caller) }

  fileprivate func take(_ bytes: Int, for caller: CallerID) throws(WireError) {
    let answer = state.withLock { state in
      switch caller {
      case .claimed:
        state.claimed.take(bytes, for: caller, share: limits.bodyBytesPerClaim)
      case .user: state.known.take(bytes, for: caller, share: limits.bodyBytesPerUser)
      case .producer, .operators:
        state.known.take(bytes, for: caller, share: limits.bodyBytesPerProducer)
      }
    }
    switch answer {
    case .taken: return
    case .callerHasItsShare:
      throw WireError(
        .throttled, "too many bodies of this caller are read at once; nothing was taken",
        retryAfterSeconds: 1)
    case .full:
      throw WireError(
        .tryAgainLater, "the relay reads too many requests at once; nothing was taken",
        retryAfterSeconds: 1)
    }
  }

  fileprivate func giveBack(_ bytes: Int, of caller: CallerID) {
    state.withLock { state in
      if case .claimed = caller { return state.claimed.giveBack(bytes, of: caller) }
      state.known.giveBack(bytes, of: caller)
    }
  }
}

/// The memory counted for one request's body.
final class BodyRoom: Sendable {
  private let limit: BodyMemoryLimit
  private let state: Mutex<(caller: CallerID, bytes: Int)>

  fileprivate init(_ limit: BodyMemoryLimit, for caller: CallerID) {
    self.limit = limit
    state = Mutex((caller, 0))
  }

  /// Reads the body. Takes room only for the bytes that have arrived, not for those announced, so a
  /// body that does not arrive takes no room.
  ///
  /// - Throws: `WireError` if the body is too large or too late, or if too many bytes of bodies are
  ///   in memory already; any other error means that the connection broke.
  func collect(_ request: Request, upTo limit: Int) async throws -> [UInt8] {
    let declared = request.headers[.contentLength].flatMap { Int($0) }
    guard declared ?? 0 <= limit else { throw Self.tooLarge(limit) }
    var body: [UInt8] = []
    for try await piece in request.body {
      guard body.count + piece.readableBytes <= limit else { throw Self.tooLarge(limit) }
      try take(piece.readableBytes)
      body.append(contentsOf: piece.readableBytesView)
    }
    return body
  }

  /// Counts the body against the share of `caller` from now on, because the sender is now known.
  func pass(to caller: CallerID) throws(WireError) {
    let (former, bytes) = state.withLock { $0 }
    guard former != caller else { return }
    try limit.take(bytes, for: caller)
    limit.giveBack(bytes, of: former)
    state.withLock { $0.caller = caller }
  }

  /// Gives the room back when the body is no longer needed.
  func leave() {
    let (caller, bytes) = state.withLock { state in
      defer { state.bytes = 0 }
      return state
    }
    limit.giveBack(bytes, of: caller)
  }

  private func take(_ bytes: Int) throws(WireError) {
    try limit.take(bytes, for: state.withLock { $0.caller })
    state.withLock { $0.bytes += bytes }
  }

  private static func tooLarge(_ limit: Int) -> WireError {
    WireError(.quotaExceeded, "the body has more than \(limit) bytes; split the request")
  }
}

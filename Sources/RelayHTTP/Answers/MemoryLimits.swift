import Hummingbird
import NIOCore
import RelayWire
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

  /// Returns the room of one body, with no bytes at first. The caller must call `leave` on it when
  /// the body is no longer needed.
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

/// Bounds the memory of answers that are being written or wait until clients read them, in total
/// and for each caller. An answer may exceed the caller's bound while the caller has no other
/// answer, and the total bound while there is no other answer at all. Otherwise an answer larger
/// than a bound could never be sent.
final class AnswerMemoryLimit: Sendable {
  private let limits: HTTPLimits
  private let state = Mutex(Shares<CallerID>(most: .max))

  init(_ limits: HTTPLimits) { self.limits = limits }

  /// The bytes of all answers.
  var bytes: Int { state.withLock { $0.all } }

  /// Reserves the room of one answer before the request is carried out. The room has no bytes at
  /// first; `AnswerRoom.grow` enlarges it.
  ///
  /// - Throws: `WireError` if no room is left.
  func room(for caller: CallerID) throws(WireError) -> AnswerRoom {
    // Checks for one byte without taking it, so that a request refused here takes no room.
    try state.withLock { shares throws(WireError) in
      try check(shares, caller, more: 1, beside: 0)
    }
    return AnswerRoom(self, for: caller)
  }

  /// - Parameters:
  ///   - held: the bytes that the answer has already.
  ///   - isDone: true if the request has been carried out; its answer is then sent in any case.
  fileprivate func take(
    _ bytes: Int, beside held: Int, for caller: CallerID, isDone: Bool
  ) throws(WireError) {
    try state.withLock { shares throws(WireError) in
      if !isDone { try check(shares, caller, more: bytes, beside: held) }
      _ = shares.take(bytes, for: caller, share: .max)
    }
  }

  private func check(
    _ shares: Shares<CallerID>, _ caller: CallerID, more: Int, beside held: Int
  ) throws(WireError) {
    let own = shares.taken(by: caller)
    guard own == held || own + more <= limits.answerBytesPerCaller else {
      throw WireError(
        .throttled, "too many bytes of answers wait for this caller; read them",
        retryAfterSeconds: 1)
    }
    // A caller's answers after the first may use only half of all bytes. So the other half stays
    // free for first answers, even if a few callers read none of their answers.
    let most = own == held ? limits.answerBytesInFlight : limits.answerBytesInFlight / 2
    guard shares.all == held || shares.all + more <= most else {
      throw WireError(
        .tryAgainLater, "too many answers wait to be read; repeat the whole request",
        retryAfterSeconds: 1)
    }
  }

  fileprivate func giveBack(_ bytes: Int, of caller: CallerID) {
    state.withLock { $0.giveBack(bytes, of: caller) }
  }
}

/// The memory counted for one request's answer. It is free again when the last reference to this
/// object is gone. The answer's body holds a reference until it has left for the network, or is
/// dropped.
final class AnswerRoom: Sendable {
  private let limit: AnswerMemoryLimit
  private let caller: CallerID
  private let bytes = Mutex(0)

  fileprivate init(_ limit: AnswerMemoryLimit, for caller: CallerID) {
    self.limit = limit
    self.caller = caller
  }

  deinit { limit.giveBack(bytes.withLock { $0 }, of: caller) }

  /// Enlarges the room: the answer now has `bytes` bytes.
  ///
  /// - Parameter isDone: true if the request has been carried out; its answer is then sent in any
  ///   case.
  func grow(to bytes: Int, isDone: Bool = false) throws(WireError) {
    let held = self.bytes.withLock { $0 }
    guard bytes > held else { return }
    try limit.take(bytes - held, beside: held, for: caller, isDone: isDone)
    self.bytes.withLock { $0 = bytes }
  }
}

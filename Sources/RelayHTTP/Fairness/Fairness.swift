import RelayCore
import Synchronization

/// Keeps one caller from taking what all callers share: requests under way, changes in the inbox,
/// writes a minute, failed authentications a minute. A caller that exceeds its share is refused
/// with 429 and `Retry-After`, and no other caller is refused.
final class Fairness: Sendable {
  private let limits: HTTPLimits
  private let requests: Mutex<Shares<CallerID>>
  private let changes: Mutex<Shares<CallerID>>
  private let changeBytes: Mutex<Shares<CallerID>>
  private let writes: Mutex<RateTable<CallerID>>
  private let failures: Mutex<RateTable<RemoteAddress>>

  /// The tokens of the rate limit (`RateTable`) that one failed authentication from a public
  /// address costs. A failure from any other address costs one token, because that address may be a
  /// proxy for many callers.
  fileprivate static let failureCost = 100

  init(_ limits: HTTPLimits) {
    self.limits = limits
    requests = Mutex(Shares(most: .max))
    changes = Mutex(Shares(most: .max))
    changeBytes = Mutex(Shares(most: .max))
    writes = Mutex(RateTable(perMinute: limits.writesPerMinute, keysMax: limits.ratedCallers))
    failures = Mutex(
      RateTable(
        perMinute: limits.failedAuthenticationsPerMinute * Self.failureCost,
        keysMax: limits.ratedCallers))
  }

  var requestsUnderWay: Int { requests.withLock { $0.all } }

  /// Begins a request, or throws a 429 if too many requests of the same caller are under way.
  ///
  /// - Returns: the request's place. The place is free again when the last reference to it is gone.
  ///   Let the answer's body hold a reference, because an answer that is not read takes memory too.
  func begin(for caller: CallerID) throws(WireError) -> RequestPlace {
    guard requests.withLock({ $0.take(for: caller, share: limits.requestsPerCaller) }) == .taken
    else {
      throw WireError(
        .throttled,
        "\(limits.requestsPerCaller) requests of this caller are under way; read their answers",
        retryAfterSeconds: 1)
    }
    return RequestPlace { self.requests.withLock { $0.giveBack(of: caller) } }
  }

  /// How much of the inbox a submission takes.
  struct Taken: Hashable {
    var changes: Int
    var bytes: Int
  }

  /// Counts the facts that a caller submits, or throws a 429 if too many facts of the caller wait
  /// already. Facts that have more bytes than the caller's share take the whole share.
  func take(_ facts: [Fact], for caller: CallerID) throws(WireError) -> Taken {
    var (changeShare, byteShare) = (Int.max, limits.inboxBytesPerUser)
    if case .producer = caller {
      (changeShare, byteShare) = (limits.changesPerProducer, limits.inboxBytesPerProducer)
    }
    let bytes = min(facts.reduce(0) { $0 + $1.footprint }, byteShare)
    guard changes.withLock({ $0.take(facts.count, for: caller, share: changeShare) }) == .taken
    else { throw Self.tooMuchWaits }
    guard changeBytes.withLock({ $0.take(bytes, for: caller, share: byteShare) }) == .taken else {
      changes.withLock { $0.giveBack(facts.count, of: caller) }
      throw Self.tooMuchWaits
    }
    return Taken(changes: facts.count, bytes: bytes)
  }

  /// Gives back the share of facts that have been answered.
  func giveBack(_ taken: Taken, of caller: CallerID) {
    changes.withLock { $0.giveBack(taken.changes, of: caller) }
    changeBytes.withLock { $0.giveBack(taken.bytes, of: caller) }
  }

  private static let tooMuchWaits = WireError(
    .throttled,
    "this caller's share of the relay's inbox is full; nothing was taken, repeat the whole request",
    retryAfterSeconds: 1)

  /// Counts one written item for a request, before its body is read. Throws a 429 if the caller has
  /// written too many items lately.
  func write(by caller: CallerID, at now: Instant) throws(WireError) {
    guard case .refused(let wait) = writes.withLock({ $0.take(for: caller, at: now) })
    else { return }
    throw WireError(
      .throttled,
      "this user writes more than \(limits.writesPerMinute) items a minute; nothing was taken",
      retryAfterSeconds: Self.seconds(wait))
  }

  /// Counts the items of the request beyond the first. The request continues even if these items
  /// are too many, because its body is read already; the caller's next request must then wait.
  func wrote(items: Int, by caller: CallerID, at now: Instant) {
    guard items > 1 else { return }
    writes.withLock { $0.spend(items - 1, for: caller, at: now) }
  }

  /// Counts a failed authentication and returns the error for it: `error`, or a 429 if too many
  /// authentications from this address have failed.
  func failed(
    _ error: WireError, from remote: RemoteAddress?, at now: Instant
  ) -> WireError {
    guard error.code == .authenticationFailed, let remote,
      case .refused(let wait) = failures.withLock({ $0.take(remote.cost, for: remote, at: now) })
    else { return error }
    return Self.tooManyFailures(wait)
  }

  /// Refuses a signed request from an address that has reached its limit of failed authentications.
  /// Otherwise the relay would have to read the request's body before it can verify the signature,
  /// and a further failure would cost the sender nothing.
  func mayClaim(from remote: RemoteAddress?, at now: Instant) throws(WireError) {
    guard let remote,
      case .refused(let wait) = failures.withLock({ $0.look(remote.cost, for: remote, at: now) })
    else { return }
    throw Self.tooManyFailures(wait)
  }

  private static func tooManyFailures(_ wait: Span) -> WireError {
    WireError(
      .throttled, "too many authentications from this address failed",
      retryAfterSeconds: seconds(wait))
  }

  private static func seconds(_ span: Span) -> Int {
    Int(max(1, (span.milliseconds + 999) / 1_000))
  }
}

extension RemoteAddress {
  fileprivate var cost: Int { isPublic ? Fairness.failureCost : 1 }
}

import RelayCore
import RelayEngine
import RelayWire

/// What all reads of feeds have in common: the wait until every fact answered before is visible,
/// turns to read the store, and tokens.
struct FeedAccess: Sendable {
  let relay: any RelayService
  let reader: any FeedReader
  let reads: StoreReads
  let keys: any TokenKeys
  let clock: any ClockReader
  let limits: HTTPLimits
  /// Turns to read the store. Without turns, the many pages of one user would take all of the
  /// store's readers and all threads.
  let looks: CallerTurns
  let submissions: Submissions

  /// The deadline of a request that begins to read now, on the boot clock. The deadline limits the
  /// waits for folds and for turns together.
  var patience: Instant { clock.boot() + limits.answerWithin }

  /// Waits until every fact that was answered before this call is visible in `place` (P4).
  func visible(_ place: ReadTarget, until: Instant) async throws(WireError) {
    try await visible([place], until: until)
  }

  /// Waits for all places at once, so that a request waits no longer for many places than for one.
  func visible(_ places: [ReadTarget], until: Instant) async throws(WireError) {
    do throws(Unavailable) {
      try await relay.visible(places, until: until)
    } catch {
      throw WireError(error)
    }
  }

  /// Reads the store once, when it is the caller's turn.
  func read<Value>(
    for caller: CallerID, until: Instant, _ reading: () async throws(StoreError) -> Value
  ) async throws(WireError) -> Value {
    var value: Value?
    do throws(StoreError) {
      // One request may read two hundred times, so the deadline is checked even if a place is free.
      if clock.boot() < until {
        value = try await looks.work(for: caller, until: until, reading)
        if value != nil { reads.worked() }
      }
    } catch {
      reads.failed(error)
      throw WireError(error)
    }
    guard let value else { throw WireError(Unavailable(.storeSlow, retryAfterSeconds: 5)) }
    return value
  }

  /// The most entries of the page: `resultsLimit`, but no more than `limits.pageEntries`.
  func pageLimit(_ body: JSONCursor) throws(JSONProblem) -> Int {
    guard let value = body.optional("resultsLimit") else { return limits.pageEntries }
    let limit = try value.integer()
    guard limit > 0 else { throw value.problem("must be at least 1") }
    return Int(min(limit, Int64(limits.pageEntries)))
  }

  func seal(_ place: FeedCursor, _ feed: FeedKey, _ caller: Caller) -> String {
    Base64.text(ChangeToken.seal(place, feed: feed, reader: caller.user, with: keys))
  }

  /// Opens a request's change token, which says where to begin reading.
  func open(
    _ value: JSONCursor?, _ feed: FeedKey, _ caller: Caller
  ) throws -> TokenStart {
    guard let value, !value.isNull else { return .beginning }
    let text = try value.string()
    guard !text.isEmpty else {
      throw value.problem("is empty; leave it out to start from the beginning")
    }
    guard let bytes = Base64.bytes(text) else { throw WireError.garbledToken }
    switch ChangeToken.open(bytes, feed: feed, reader: caller.user, with: keys) {
    case .place(let place): return .place(place)
    case .garbled where digest(in: text) == .garbled: throw WireError.garbledToken
    // A text that is a digest's cursor comes from this relay, but it is not a change token.
    case .foreign, .garbled: throw WireError.foreignToken
    case .unknownKey: return .expired
    }
  }

  /// One page of a feed, which is read when every fact answered before this call is visible in the
  /// feed.
  func page(
    _ feed: FeedKey, from start: TokenStart, limit: Int, _ caller: Caller
  ) async throws(WireError) -> PageAnswer {
    if start != .expired { try await visible(.feed(feed), until: caller.until) }
    return try await visiblePage(feed, from: start, limit: limit, caller)
  }

  /// One page of a feed, for a caller that has already waited with `visible`.
  func visiblePage(
    _ feed: FeedKey, from start: TokenStart, limit: Int, _ caller: Caller
  ) async throws(WireError) -> PageAnswer {
    var after: FeedCursor?
    switch start {
    case .beginning: break
    case .place(let place): after = place
    case .expired: return .expired(.trimmed)
    }
    let query = PageQuery(feed: feed, reader: caller.user, after: after, limit: limit)
    return try await read(for: caller.id, until: caller.until) { () async throws(StoreError) in
      try await reader.page(query)
    }
  }

  /// Submits the facts that report lost history: a validly signed token names an era that this
  /// store never had. The report counts as a write of the caller, whose writes are limited. If the
  /// relay is busy, the report is dropped, and the next token of an unknown era causes it again.
  func report(lost facts: [Fact], by caller: Caller) async {
    guard !facts.isEmpty else { return }
    do {
      try submissions.mayWrite(caller.id)
      submissions.wrote(items: facts.count, by: caller.id)
      _ = try await submissions.submit(facts, for: caller.id)
    } catch {
      // The error is ignored. The next token of an unknown era repeats the report.
    }
  }
}

extension FeedAccess {
  /// Reads a text as a digest's cursor.
  func digest(in text: String) -> SealedText.Opened {
    SealedText.read(text, for: .digest, count: 4, with: keys)
  }
}

extension WireError {
  /// The text is no token.
  static let garbledToken = WireError(.badRequest, "Invalid continuation format")
  /// The token is forged, or is for another feed, another user or another purpose.
  static let foreignToken = WireError(.badRequest, "Unknown sync continuation type")
}

/// Where a read begins.
enum TokenStart: Hashable {
  case beginning
  case place(FeedCursor)
  /// The token is sealed with a key that this relay does not have.
  case expired

  /// The position up to which the client has read already; `nil` if the request has no valid token.
  /// The relay counts everything up to this position as acknowledged.
  var presented: Position? {
    guard case .place(let place) = self else { return nil }
    return place.position
  }
}

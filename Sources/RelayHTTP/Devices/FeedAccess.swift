import RelayCore
import RelayEngine
import RelayWire

/// What reads of feeds share: the wait until what was answered is visible, turns at the store,
/// tokens.
struct FeedAccess: Sendable {
  let relay: any RelayService
  let reader: any FeedReader
  let reads: StoreReads
  let keys: any TokenKeys
  let clock: any ClockReader
  let limits: HTTPLimits
  /// Turns at the store: one user's many pages would take its readers, and all threads.
  let looks: CallerTurns
  let submissions: Submissions

  /// When a request that begins to read now has waited long enough, for folds and for its turns
  /// together. On the boot clock.
  var patience: Instant { clock.boot() + limits.answerWithin }

  /// Waits until what was answered before is visible here (P4).
  func visible(_ place: ReadTarget, until: Instant) async throws(WireError) {
    try await visible([place], until: until)
  }

  /// One wait for all of them, so that no request waits longer for many than for one.
  func visible(_ places: [ReadTarget], until: Instant) async throws(WireError) {
    do throws(Unavailable) {
      try await relay.visible(places, until: until)
    } catch {
      throw WireError(error)
    }
  }

  /// One look into the store, when it is the caller's turn.
  func read<Value>(
    for caller: CallerID, until: Instant, _ reading: () async throws(StoreError) -> Value
  ) async throws(WireError) -> Value {
    var value: Value?
    do throws(StoreError) {
      // One request may look two hundred times: places that are free make it no later.
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

  /// 1 to 200; larger is taken as 200.
  func pageLimit(_ body: JSONCursor) throws(JSONProblem) -> Int {
    guard let value = body.optional("resultsLimit") else { return limits.pageEntries }
    let limit = try value.integer()
    guard limit > 0 else { throw value.problem("must be at least 1") }
    return Int(min(limit, Int64(limits.pageEntries)))
  }

  func seal(_ place: FeedCursor, _ feed: FeedKey, _ caller: Caller) -> String {
    Base64.text(ChangeToken.seal(place, feed: feed, reader: caller.user, with: keys))
  }

  /// What a request's token says of where to begin.
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
    // A digest's cursor is one of ours, and no change token.
    case .foreign, .garbled: throw WireError.foreignToken
    case .unknownKey: return .expired
    }
  }

  /// One page of a feed, read after everything answered before is visible in it.
  func page(
    _ feed: FeedKey, from start: TokenStart, limit: Int, _ caller: Caller
  ) async throws(WireError) -> PageAnswer {
    if start != .expired { try await visible(.feed(feed), until: caller.until) }
    return try await visiblePage(feed, from: start, limit: limit, caller)
  }

  /// The same, for whoever has waited already.
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

  /// A validly signed token named a life this store never had: the relay must know, whatever the
  /// answer. Its holder writes that, and may write no more than others do. Should the relay be
  /// busy, the next such token tells it.
  func report(lost facts: [Fact], by caller: Caller) async {
    guard !facts.isEmpty else { return }
    do {
      try submissions.mayWrite(caller.id)
      submissions.wrote(items: facts.count, by: caller.id)
      _ = try await submissions.submit(facts, for: caller.id)
    } catch {
      // The reader has its answer. What was to be told is told with the next such token.
    }
  }
}

extension FeedAccess {
  /// A digest's cursor, or what stands in its place.
  func digest(in text: String) -> SealedText.Opened {
    SealedText.read(text, for: .digest, count: 4, with: keys)
  }
}

extension WireError {
  /// No token at all.
  static let garbledToken = WireError(.badRequest, "Invalid continuation format")
  /// Forged, or of another feed, another user or another kind.
  static let foreignToken = WireError(.badRequest, "Unknown sync continuation type")
}

/// Where a reading begins.
enum TokenStart: Hashable {
  case beginning
  case place(FeedCursor)
  /// Sealed with a key that this relay does not have.
  case expired

  /// What its holder has read already; a token presented counts as an acknowledgement.
  var presented: Position? {
    guard case .place(let place) = self else { return nil }
    return place.position
  }
}

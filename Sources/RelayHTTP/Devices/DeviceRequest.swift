import RelayCore
import RelayEngine
import RelayWire

/// A device's request whose sender and body are known: a user in a scope, and the installation if
/// the request names one.
struct DeviceRequest: Sendable {
  let authenticator: ScopeAuthenticator
  let user: UserID
  let client: ClientID?
  let body: JSONCursor
  let query: String?
  /// When the request stops waiting for what it reads, on the boot clock.
  let until: Instant
  /// The memory reserved for the request's answer.
  let answer: AnswerRoom

  var scope: Scope { authenticator.scope }

  /// The caller against whose shares this request counts.
  var caller: CallerID { .user(scope, user) }

  /// The device that acknowledges what this request reads; `nil` means that the request names no
  /// installation and acknowledges nothing.
  var device: DeviceKey? { client.map { key(of: $0) } }

  func key(of client: ClientID) -> DeviceKey {
    DeviceKey(scope: scope, user: user, client: client)
  }

  func feed(_ kind: FeedKey.Kind) -> FeedKey { FeedKey(scope: scope, kind: kind) }

  /// The user for whom a zone's missing owner stands.
  func owner(in database: Database) -> UserID {
    database == .public ? ZoneID.publicDefault.owner : user
  }
}

extension API {
  /// Submits one fact of a device.
  ///
  /// - Throws: `WireError` if the relay refuses the fact.
  @discardableResult
  func submit(_ fact: Fact, _ request: DeviceRequest) async throws -> Answer? {
    let answer = try await submit([fact], for: request.caller).first
    if case .refused(let refusal) = answer { throw WireError(refusal) }
    return answer
  }

  /// Reads the store once for a device, after every fact that was answered before this call is
  /// visible in `place` (P4); `nil` means that the request has waited already.
  func read<Value>(
    _ request: DeviceRequest, _ place: ReadTarget? = nil, _ reading: () async throws -> Value
  ) async throws -> Value {
    if let place { try await relay.visible([place], until: request.until) }
    return try await read(for: request.caller, until: request.until, reading)
  }

  /// Counts the items of a request beyond the first as further written items of the user.
  func wrote(items: Int, _ request: DeviceRequest) {
    fairness.wrote(items: items, by: request.caller, at: clock.boot())
  }
}

/// What all reads of feeds have in common: tokens, pages, and what their readers acknowledge.
extension API {
  /// The most entries of a page: `resultsLimit`, but no more than `limits.pageEntries`.
  ///
  /// - Parameter query: the request's query, if the limit may stand there as well.
  func pageLimit(_ body: JSONCursor, query: String? = nil) throws -> Int {
    if let text = try QueryParameters.text("resultsLimit", query) {
      // Digits that are no integer are a number larger than every page.
      let limit = Int(text) ?? (text.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? .max : 0)
      guard limit > 0 else {
        throw WireError(.badRequest, "resultsLimit must be a whole number of at least 1")
      }
      return min(limit, limits.pageEntries)
    }
    guard let value = body.optional("resultsLimit") else { return limits.pageEntries }
    let limit = try value.cappedInteger()
    guard limit > 0 else { throw value.problem("must be at least 1") }
    return Int(min(limit, Int64(limits.pageEntries)))
  }

  func seal(_ place: FeedCursor, _ feed: FeedKey, _ request: DeviceRequest) -> String {
    Base64.text(ChangeToken.seal(place, feed: feed, reader: request.user, with: keys))
  }

  /// Opens a request's change token, which says where to begin reading.
  func open(
    _ value: JSONCursor?, _ feed: FeedKey, _ request: DeviceRequest
  ) throws -> TokenStart {
    guard let value, !value.isNull else { return .beginning }
    let text = try value.string()
    guard !text.isEmpty else {
      throw value.problem("is empty; leave it out to start from the beginning")
    }
    guard let bytes = Base64.bytes(text) else { throw WireError.garbledToken }
    switch ChangeToken.open(bytes, feed: feed, reader: request.user, with: keys) {
    case .place(let place): return .place(place)
    case .garbled where digest(in: text) == .garbled: throw WireError.garbledToken
    // A text that is a digest's cursor comes from this relay, but it is not a change token.
    case .foreign, .garbled: throw WireError.foreignToken
    case .unknownKey: return .expired
    }
  }

  /// Reads a text as a digest's cursor.
  func digest(in text: String) -> SealedText.Opened {
    SealedText.read(text, for: .digest, count: 4, with: keys)
  }

  /// One page of a feed that may be read alone, after `token`.
  ///
  /// - Returns: where the page begins, and the page; nil if the token has expired.
  func page(
    _ feed: FeedKey, after token: JSONCursor?, _ request: DeviceRequest
  ) async throws -> (start: TokenStart, page: Page)? {
    let start = try open(token, feed, request)
    let limit = try pageLimit(request.body)
    if start != .expired { try await relay.visible([.feed(feed)], until: request.until) }
    var lost: [Fact] = []
    let found = try await page(feed, from: start, limit: limit, request, &lost)
    await report(lost: lost, request)
    return found.map { (start, $0) }
  }

  /// One page of a feed, for a request that has already waited until the feed is visible.
  ///
  /// - Parameter lost: gets the fact that reports lost history, if the token shows that.
  /// - Returns: nil if the token has expired.
  func page(
    _ feed: FeedKey, from start: TokenStart, limit: Int, _ request: DeviceRequest,
    _ lost: inout [Fact]
  ) async throws -> Page? {
    guard start != .expired else { return nil }
    let query = PageQuery(feed: feed, reader: request.user, after: start.place, limit: limit)
    let answer = try await read(request) { try await reader.page(query) }
    switch answer {
    case .absent: throw WireError.zoneNotFound
    case .expired(let why):
      if let fact = why.fact(of: feed) { lost.append(fact) }
      return nil
    case .page(let page): return page
    }
  }

  /// Submits the facts that report lost history: a validly signed token names an era that this
  /// store never had. The report counts as a write of the caller, whose writes are limited. If the
  /// relay is busy, the report is dropped, and the next token of an unknown era causes it again.
  func report(lost facts: [Fact], _ request: DeviceRequest) async {
    guard !facts.isEmpty else { return }
    do {
      try fairness.write(by: request.caller, at: clock.boot())
      wrote(items: facts.count, request)
      _ = try await submit(facts, for: request.caller)
    } catch {
      // The error is ignored. The next token of an unknown era repeats the report.
    }
  }

  /// What the device has read once it has the page. Notes at once what it shows by its token: that
  /// it has everything up to there.
  func readings(
    of page: Page, from start: TokenStart, _ request: DeviceRequest,
    _ reached: (Position) -> Reading.Reached
  ) -> [Reading] {
    guard let device = request.device else { return [] }
    if let presented = start.place?.position {
      relay.served(Reading(device: device, reached: reached(presented), proof: .token))
    }
    return [Reading(device: device, reached: reached(page.next.position))]
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

  /// The place up to which the client has read already; `nil` if the request has no valid token.
  /// The relay counts everything up to this place as acknowledged.
  var place: FeedCursor? {
    guard case .place(let place) = self else { return nil }
    return place
  }
}

import RelayCore
import RelayEngine
import RelayWire

/// What all reads of feeds have in common: tokens, pages, and what their readers acknowledge.
struct FeedAccess: Sendable {
  let store: StoreAccess
  let submissions: Submissions
  let relay: any RelayService
  let keys: any TokenKeys
  let limits: HTTPLimits

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
    // Here `garbled` means that the text is no change token, but has the form of a digest's cursor.
    case .foreign, .garbled: throw WireError.foreignToken
    case .unknownKey: return .expired
    }
  }

  /// Reads a text as a digest's cursor.
  func digest(in text: String) -> SealedText.Opened {
    SealedText.read(text, for: .digest, count: 4, with: keys)
  }

  /// One page of a feed, after `token`, for a request that reads this feed alone.
  ///
  /// - Returns: where the page begins, and the page; nil if the token has expired.
  func page(
    _ feed: FeedKey, after token: JSONCursor?, _ request: DeviceRequest
  ) async throws -> (start: TokenStart, page: Page)? {
    let start = try open(token, feed, request)
    let limit = try QueryParameters.pageLimit(request.body, atMost: limits.pageEntries)
    if start != .expired { try await store.visible([.feed(feed)], until: request.until) }
    var lost: [Fact] = []
    let found = try await page(feed, from: start, limit: limit, request, &lost)
    await report(lost: lost, request)
    return found.map { (start, $0) }
  }

  /// One page of a feed, for a request that has already waited until the feed is visible.
  ///
  /// - Parameter lost: gets a fact that reports lost history, if the token shows that history is
  ///   lost.
  /// - Returns: nil if the token has expired.
  func page(
    _ feed: FeedKey, from start: TokenStart, limit: Int, _ request: DeviceRequest,
    _ lost: inout [Fact]
  ) async throws -> Page? {
    guard start != .expired else { return nil }
    let query = PageQuery(feed: feed, reader: request.user, after: start.place, limit: limit)
    let answer = try await store.read(request) { try await store.reader.page(query) }
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
      try submissions.mayWrite(request.caller)
      submissions.wrote(items: facts.count, request)
      _ = try await submissions.submit(facts, request)
    } catch {
      // The error is ignored. The next token of an unknown era repeats the report.
    }
  }

  /// What the device has read once the device has the page. This method also reports at once what
  /// the device's token shows: that the device has everything up to the token's position.
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

import NIOHTTP1

/// The parts of requests that the parser has delivered and the connection has not taken yet, in
/// order.
struct WaitingParts: Sendable {
  /// How many parts may wait before the connection stops reading.
  static let countMax = 10

  /// Whether the part that the parser delivered last lies inside a request.
  private enum Parser {
    case betweenRequests
    case inRequest(isLast: Bool)
    /// The last request is complete, or the bytes after it are no valid request. Nothing more is
    /// read.
    case ended
  }

  private var parts: [HTTPServerRequestPart] = []
  private var taken = 0
  private var parser = Parser.betweenRequests

  var first: HTTPServerRequestPart? { isEmpty ? nil : parts[taken] }
  var isEmpty: Bool { taken == parts.count }
  var isFull: Bool { parts.count - taken >= Self.countMax }

  /// True if nothing more is read.
  var isEnded: Bool { if case .ended = parser { true } else { false } }
  /// True if the last part that was delivered is not the end of its request.
  var isInRequest: Bool { if case .inRequest = parser { true } else { false } }

  mutating func append(_ part: HTTPServerRequestPart) {
    parts.append(part)
    switch (parser, part) {
    case (.ended, _): break
    case (_, .head(let head)): parser = .inRequest(isLast: head.isLast)
    case (.inRequest(isLast: true), .end): parser = .ended
    case (_, .end): parser = .betweenRequests
    case (_, .body): break
    }
  }

  mutating func removeFirst() { taken += 1 }

  /// Releases the memory of taken parts. One read may bring thousands of parts, but a connection
  /// should keep little memory between requests.
  mutating func trim() {
    if isEmpty {
      parts.removeAll(keepingCapacity: parts.count <= Self.countMax)
      taken = 0
    } else if taken > max(Self.countMax, parts.count / 2) {
      parts.removeFirst(taken)
      taken = 0
    }
  }

  mutating func end() { parser = .ended }

  mutating func removeAll() { (parts, taken) = ([], 0) }

  /// Removes the parts of a request that will never be complete.
  ///
  /// - Returns: the request's head, if it was waiting.
  mutating func removeIncomplete() -> HTTPRequestHead? {
    guard isInRequest else { return nil }
    parser = .betweenRequests
    let start = parts[taken...].lastIndex { if case .head = $0 { true } else { false } }
    guard let start, case .head(let head) = parts[start] else { return nil }
    parts.removeSubrange(start...)
    return head
  }
}

import NIOHTTP1

/// The parts of requests that the parser has delivered and no request has taken yet, in order.
struct WaitingParts: Sendable {
  /// How many parts may wait before the connection stops reading.
  static let countMax = 10

  /// Where the parser is.
  private enum Parser {
    case betweenRequests
    case inRequest(isLast: Bool)
    /// The last request is complete, or what follows is no valid request: nothing more is read.
    case ended
  }

  private var parts: [HTTPServerRequestPart] = []
  private var taken = 0
  private var parser = Parser.betweenRequests

  init() {}

  var first: HTTPServerRequestPart? { isEmpty ? nil : parts[taken] }
  var isEmpty: Bool { taken == parts.count }
  var isFull: Bool { parts.count - taken >= Self.countMax }

  /// Nothing more is read.
  var isEnded: Bool { if case .ended = parser { true } else { false } }
  /// The last part that was delivered is not the end of its request.
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

  /// Releases memory of taken parts. One read may bring thousands of parts; between requests the
  /// connection keeps little memory.
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

extension HTTPRequestHead {
  /// True if the connection ends with the answer. An HTTP/1.0 client would have to be told that it
  /// stays open. The relay speaks only HTTP/1.1: a request that offers an upgrade is answered as
  /// HTTP/1.1, and the parser stops after that request for good.
  var isLast: Bool {
    !isKeepAlive || isOfHTTP10 || method == .CONNECT || headers.contains(name: "upgrade")
  }
}

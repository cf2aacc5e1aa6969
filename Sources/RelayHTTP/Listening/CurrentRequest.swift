import HTTPTypes
import NIOCore
import NIOHTTP1

/// A request, from the arrival of its head until the request is answered and its body is read.
struct CurrentRequest {
  enum Body {
    /// The parts that arrive together with the head are collected. The responder does not have the
    /// request yet.
    case gathering(HTTPRequestHead)
    /// The responder has the request. `isAwaited` is true while the responder waits for the next
    /// part of the body.
    case arriving(isAwaited: Bool)
    /// The body did not arrive in time.
    case late
    case complete
  }

  enum Answer {
    /// The last part is not written yet. If `isHeld` is true, only the courier may answer.
    case due(isHeld: Bool)
    /// The last part is written. `discarded` is the number of bytes of the body that arrived after
    /// the last part was written.
    case written(discarded: Int)
  }

  /// Distinguishes the request from all other requests of the same connection.
  let serial: UInt32
  let begun: NIODeadline
  /// True if the client wants only the head of the answer.
  let isBodiless: Bool
  /// True for HTTP/1.0, which has no chunks: an answer of unknown length ends with the connection.
  let isOfHTTP10: Bool
  /// True if the connection ends with the answer.
  var isLast: Bool
  var body: Body
  var answer = Answer.due(isHeld: false)
  /// The part of the body that arrived together with the head.
  var first: ByteBuffer?
  /// How long the body may take.
  var bodyTime: TimeAmount

  /// - Parameter head: the request's head; `nil` means that the bytes are no valid request.
  init(
    _ head: HTTPRequestHead?, serial: UInt32, begun: NIODeadline, bodyTime: TimeAmount,
    isLast: Bool
  ) {
    self.serial = serial
    self.begun = begun
    self.bodyTime = bodyTime
    self.isLast = isLast || head?.isLast != false
    isBodiless = head?.method == .HEAD
    isOfHTTP10 = head?.isOfHTTP10 ?? false
    body = head.map { .gathering($0) } ?? .complete
  }

  var isGathering: Bool { if case .gathering = body { true } else { false } }
  var isAwaited: Bool { if case .arriving(isAwaited: true) = body { true } else { false } }
  var isLate: Bool { if case .late = body { true } else { false } }
  var isComplete: Bool { if case .complete = body { true } else { false } }
  var isAnswered: Bool { if case .written = answer { true } else { false } }
  var isHeld: Bool { if case .due(isHeld: true) = answer { true } else { false } }

  var lateness: WireError {
    WireError(
      .badRequest,
      "the body did not arrive within \(bodyTime.nanoseconds / 1_000_000_000) s; send less at once",
      status: .requestTimeout)
  }
}

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

extension HTTPRequestHead {
  /// True if the connection ends with the answer to this request. The client may ask for this. A
  /// connection of HTTP/1.0 always ends, because the relay sends no header field that would keep it
  /// open. A connection also ends after a request that is a CONNECT or offers an upgrade, because
  /// the parser reads no further request after such a request.
  var isLast: Bool {
    !isKeepAlive || isOfHTTP10 || method == .CONNECT || headers.contains(name: "upgrade")
  }
}

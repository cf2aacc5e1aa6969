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
    /// The rest of the body will not be read, for this reason.
    case cut(WireError)
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
    (self.serial, self.begun, self.bodyTime) = (serial, begun, bodyTime)
    self.isLast = isLast || head?.isLast != false
    isBodiless = head?.method == .HEAD
    isOfHTTP10 = head?.isOfHTTP10 ?? false
    body = head.map { .gathering($0) } ?? .complete
  }

  var isGathering: Bool { if case .gathering = body { true } else { false } }
  var isAwaited: Bool { if case .arriving(isAwaited: true) = body { true } else { false } }
  var isCut: Bool { if case .cut = body { true } else { false } }
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

extension HTTPRequestHead {
  /// True if the connection ends with the answer to this request. The client may ask for this. A
  /// connection of HTTP/1.0 always ends, because the relay sends no header field that would keep it
  /// open. A connection also ends after a request that is a CONNECT or offers an upgrade, because
  /// the parser reads no further request after such a request.
  var isLast: Bool {
    !isKeepAlive || isOfHTTP10 || method == .CONNECT || headers.contains(name: "upgrade")
  }
}

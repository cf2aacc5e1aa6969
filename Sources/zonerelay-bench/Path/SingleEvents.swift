import NIOCore

/// A record server that sends one event after another, with a pause in which the relay becomes
/// idle.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only; the times are read
/// after the run.
final class SingleEvents: LoadCaller, @unchecked Sendable {
  private static let pause = TimeAmount.milliseconds(50)
  private let requests: [ByteBuffer]
  private var next = 0
  /// When each event's 202 was read.
  private(set) var accepted: [NIODeadline] = []

  init(_ requests: [ByteBuffer]) { self.requests = requests }

  func next(after answer: LoadAnswer?) throws -> Turn {
    if let answer {
      try answer.expectAccepted(1)
      accepted.append(.now())
    }
    guard next < requests.count else { return .done }
    defer { next += 1 }
    return .sendAt(.now() + Self.pause, requests[next])
  }
}

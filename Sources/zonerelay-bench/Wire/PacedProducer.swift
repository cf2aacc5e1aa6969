import NIOCore

/// A record server that sends its requests one by one, each when it is due.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only; the results are
/// read after the run.
final class PacedProducer: LoadCaller, @unchecked Sendable {
  /// When a request is due, from its number and the time at which the run began.
  typealias Schedule = @Sendable (_ number: Int, _ start: NIODeadline) -> NIODeadline

  private let requests: [ByteBuffer]
  private let eventsEach: Int
  private let due: Schedule
  private var next = 0
  private var start = NIODeadline.now()
  /// When each 202 was read.
  private(set) var accepted: [NIODeadline] = []
  private(set) var latencies = Latencies()

  init(_ requests: [ByteBuffer], eventsEach: Int = 1, due: @escaping Schedule) {
    (self.requests, self.eventsEach, self.due) = (requests, eventsEach, due)
  }

  func next(after answer: LoadAnswer?) throws -> Turn {
    if let answer {
      try answer.expectAccepted(eventsEach)
      accepted.append(.now())
      latencies.add(nanoseconds: answer.took.nanoseconds)
    } else {
      start = .now()
    }
    guard next < requests.count else { return .done }
    defer { next += 1 }
    return .sendAt(due(next, start), requests[next])
  }
}

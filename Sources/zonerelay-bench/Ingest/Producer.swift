import NIOCore

/// What a record server's connections have in common: the requests not yet sent, and what came of
/// those that were.
///
/// `@unchecked Sendable`: used on the bench's one event loop only, but for making and reading it
/// before and after.
final class Outbox: @unchecked Sendable {
  private var requests: [ByteBuffer]
  private var next = 0
  private let eventsEach: Int
  private(set) var latencies = Latencies()

  init(_ requests: [ByteBuffer], eventsEach: Int) {
    self.requests = requests
    self.eventsEach = eventsEach
  }

  fileprivate func take() -> ByteBuffer? {
    guard next < requests.count else { return nil }
    next += 1
    return requests[next - 1]
  }

  fileprivate func settle(_ answer: LoadAnswer) throws {
    try answer.expectAccepted(eventsEach)
    latencies.add(nanoseconds: answer.took.nanoseconds)
  }
}

/// One connection of a record server: a request after the other, as fast as they are answered.
final class Producer: LoadCaller {
  private let outbox: Outbox

  init(_ outbox: Outbox) { self.outbox = outbox }

  func next(after answer: LoadAnswer?) throws -> Turn {
    if let answer { try outbox.settle(answer) }
    return outbox.take().map { .send($0) } ?? .done
  }
}

extension LoadAnswer {
  /// 202, and every event new: anything else makes the measurement worthless.
  func expectAccepted(_ count: Int) throws {
    guard status == 202, number(after: #""accepted":"#) == count else {
      throw Trouble("\(count) events were answered with \(status): \(text.prefix(500))")
    }
  }
}

import NIOCore

/// What a record server's connections share: the requests not sent yet, and the results of those
/// that were sent.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only; it is made before
/// the run and read after the run.
final class Outbox: @unchecked Sendable {
  private var requests: [ByteBuffer]
  private var next = 0
  private let eventsEach: Int
  private(set) var latencies = Latencies()

  init(_ requests: [ByteBuffer], eventsEach: Int) {
    self.requests = requests
    self.eventsEach = eventsEach
  }

  /// Connections of the record server.
  func producers(_ count: Int) -> [Producer] { (0..<count).map { _ in Producer(self) } }

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

/// One connection of a record server: sends the next request as soon as the last one is answered.
final class Producer: LoadCaller {
  private let outbox: Outbox

  init(_ outbox: Outbox) { self.outbox = outbox }

  func next(after answer: LoadAnswer?) throws -> Turn {
    if let answer { try outbox.settle(answer) }
    return outbox.take().map { .send($0) } ?? .done
  }
}

extension LoadAnswer {
  /// Throws unless the answer is 202 and all `count` events were new: otherwise the measurement is
  /// worthless.
  func expectAccepted(_ count: Int) throws {
    guard status == 202, number(after: #""accepted":"#) == count else {
      throw BenchError("\(count) events were answered with \(status): \(text.prefix(500))")
    }
  }
}

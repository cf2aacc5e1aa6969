import NIOCore

/// A client that follows one zone of the burst's user: the client requests the changes four times a
/// second.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only; the latencies are
/// read after the run.
final class Reader: LoadCaller, @unchecked Sendable {
  private static let pace = TimeAmount.milliseconds(250)
  private let zone: String
  private let token: String
  private let length: TimeAmount
  private let offset: TimeAmount
  private var syncToken: String?
  private var end = NIODeadline.now()
  private var due = NIODeadline.now()
  private(set) var latencies = Latencies()

  init(_ number: Int, token: String, length: TimeAmount) {
    zone = BurstScene.zoneName(number % BurstShape.zones)
    self.token = token
    self.length = length
    offset = .milliseconds(Int64(number) * 250 / Int64(BurstShape.readers))
  }

  func next(after answer: LoadAnswer?) throws -> Turn {
    if let answer {
      guard answer.status == 200, let next = answer.string(after: #""syncToken":""#) else {
        throw BenchError(
          "changes/zone was answered with \(answer.status): \(answer.text.prefix(500))")
      }
      syncToken = next
      latencies.add(nanoseconds: answer.took.nanoseconds)
      due = max(due + Self.pace, .now())
    } else {
      (due, end) = (.now() + offset, .now() + length)
    }
    let request = RequestText.page(
      of: zone, user: BurstScene.user, token: token, after: syncToken, limit: 200)
    return due < end ? .sendAt(due, request) : .done
  }
}

import NIOCore

/// A record server that reports one zone: it sends its requests one by one, spread over the burst.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only.
final class BurstProducer: LoadCaller, @unchecked Sendable {
  private let requests: [ByteBuffer]
  private var next = 0
  private var start = NIODeadline.now()

  init(_ requests: [ByteBuffer]) { self.requests = requests }

  func next(after answer: LoadAnswer?) throws -> Turn {
    if let answer { try answer.expectAccepted(BurstShape.batch) } else { start = .now() }
    guard next < requests.count else { return .done }
    defer { next += 1 }
    let gap = BurstShape.length.nanoseconds / Int64(max(1, requests.count - 1))
    return .sendAt(start + .nanoseconds(gap * Int64(next)), requests[next])
  }
}

/// Posts single events of users without devices at a steady rate, and times the answers.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only; the latencies are
/// read after the run.
final class Probe: LoadCaller, @unchecked Sendable {
  /// The number of connections. Each sends a request every `pace`, together 400 requests a second.
  /// With so many connections a late answer does not delay the other requests.
  static let connections = 100
  private static let pace = TimeAmount.milliseconds(250)
  private var writer: EventWriter
  private let offset: TimeAmount
  private let count: Int
  private var sent = 0
  private var start = NIODeadline.now()
  private(set) var latencies = Latencies()

  init(run: String, offset: Int, length: TimeAmount) {
    writer = EventWriter(run: run)
    self.offset = .nanoseconds(Self.pace.nanoseconds * Int64(offset) / Int64(Self.connections))
    count = Int(length.nanoseconds / Self.pace.nanoseconds)
  }

  func next(after answer: LoadAnswer?) throws -> Turn {
    if let answer {
      try answer.expectAccepted(1)
      latencies.add(nanoseconds: answer.took.nanoseconds)
    } else {
      start = .now() + offset
    }
    guard sent < count else { return .done }
    defer { sent += 1 }
    let subject = EventWriter.Subject(
      user: "_probe\(sent % 100)", zone: "Probe", record: "record-\(sent % 10)")
    return .sendAt(
      start + .nanoseconds(Self.pace.nanoseconds * Int64(sent)), writer.single(subject))
  }
}

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
    return due < end ? .sendAt(due, request) : .done
  }

  private var request: ByteBuffer {
    let known = syncToken.map { #","syncToken":"\#($0)""# } ?? ""
    return RequestText.post(
      "/database/1/\(MeasuredDaemon.scope)/private/changes/zone", token: token,
      body: (#"{"zones":[{"zoneID":{"zoneName":""# + zone + #"","ownerRecordName":""#
        + BurstScene.user + #""},"resultsLimit":200"# + known + "}]}").utf8)
  }
}

import NIOCore
import Synchronization

/// A record server and an app that are not part of the fan-out. The record server sends events at a
/// steady rate; after each event, the app requests the page that must show the event. Both requests
/// are timed. The rate is low enough that a page which waits for a fold does not delay the next
/// event.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only; the latencies are
/// read after the run, and the stop is atomic.
final class BackgroundLoad: LoadCaller, @unchecked Sendable {
  private static let pace = TimeAmount.seconds(1)
  private let user: String
  private let token: String
  private let stop: StopSignal
  private let offset: TimeAmount
  private var writer: EventWriter
  private var sent = 0
  private var isReading = true
  private var start = NIODeadline.now()
  private(set) var accepted = Latencies()
  private(set) var read = Latencies()

  /// A signal that stops all loads which share it.
  final class StopSignal: Sendable {
    private let isBlown = Atomic(false)
    func stop() { isBlown.store(true, ordering: .relaxed) }
    var isStopped: Bool { isBlown.load(ordering: .relaxed) }
  }

  init(_ number: Int, run: String, stop: StopSignal) {
    offset = .milliseconds(Int64(number) * 20)
    user = "_bystander\(number)"
    token = MeasuredDaemon.userToken(user)
    self.stop = stop
    writer = EventWriter(run: "\(run)-\(number)")
  }

  func next(after answer: LoadAnswer?) throws -> Turn {
    if let answer { try settle(answer) } else { start = .now() + offset }
    isReading.toggle()
    guard !isReading else { return .send(page) }
    guard !stop.isStopped else { return .done }
    defer { sent += 1 }
    let subject = EventWriter.Subject(user: user, zone: "Zone", record: "record-\(sent % 10)")
    let due = start + .nanoseconds(Self.pace.nanoseconds * Int64(sent))
    return .sendAt(due, writer.single(subject))
  }

  private func settle(_ answer: LoadAnswer) throws {
    if isReading {
      guard answer.status == 200, answer.text.contains(#""recordChangeTag":"\#(sent)""#) else {
        throw BenchError(
          "after a 202, changes/zone was answered with \(answer.status): \(answer.text)")
      }
      read.add(nanoseconds: answer.took.nanoseconds)
    } else {
      try answer.expectAccepted(1)
      accepted.add(nanoseconds: answer.took.nanoseconds)
    }
  }

  private var page: ByteBuffer {
    RequestText.post(
      "/database/1/\(MeasuredDaemon.scope)/private/changes/zone", token: token,
      body: (#"{"zones":[{"zoneID":{"zoneName":"Zone","ownerRecordName":""# + user + #""}}]}"#)
        .utf8)
  }
}

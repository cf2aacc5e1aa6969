import NIOCore

/// A well-behaved user. The user's record server reports a change each second. The user's device
/// then reads the zone, which must show the change, and after each fifth change the notifications.
/// Each answer is timed from the moment when the request was due.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only; results are read
/// after the run.
final class GoodUser: LoadCaller, @unchecked Sendable {
  static let count = 50
  private static let pace = TimeAmount.seconds(1)
  private enum Step { case event, page, notifications }

  private let user: String
  private let token: String
  private let length: TimeAmount
  private let offset: TimeAmount
  private var writer: EventWriter
  private var step = Step.notifications
  private var sent = 0
  private var start = NIODeadline.now()
  private(set) var latencies = Latencies()
  /// Answers that a well-behaved user must not get.
  private(set) var refusals: [String] = []
  /// How many answers took longer than `AbusePhase.slowMilliseconds`, by the kind of request.
  private(set) var slow: [String: Int] = [:]

  init(_ number: Int, run: String, length: TimeAmount) {
    user = Self.name(number)
    token = MeasuredDaemon.userToken(user)
    self.length = length
    offset = .nanoseconds(Self.pace.nanoseconds * Int64(number) / Int64(Self.count))
    writer = EventWriter(run: "\(run)-\(number)")
  }

  static func name(_ number: Int) -> String { "_good\(number)" }

  func next(after answer: LoadAnswer?) throws -> Turn {
    if let answer { settle(answer) } else { start = .now() + offset }
    switch step {
    case .event:
      step = .page
      return .send(page)
    case .page where sent.isMultiple(of: 5):
      step = .notifications
      return .send(notifications)
    case .page, .notifications:
      let due = start + .nanoseconds(Self.pace.nanoseconds * Int64(sent))
      guard due < start + length else { return .done }
      sent += 1
      step = .event
      let subject = EventWriter.Subject(user: user, zone: "Zone", record: "record-\(sent % 10)")
      return .sendAt(due, writer.single(subject))
    }
  }

  private func settle(_ answer: LoadAnswer) {
    latencies.add(nanoseconds: answer.took.nanoseconds)
    if answer.took > .milliseconds(AbusePhase.slowMilliseconds) { slow["\(step)", default: 0] += 1 }
    let isGood =
      switch step {
      case .event: answer.status == 202
      case .page: answer.status == 200 && answer.text.contains(#""recordChangeTag":"\#(sent)""#)
      case .notifications: answer.status == 200
      }
    if !isGood { refusals.append("\(step): \(answer.status) \(answer.text.prefix(300))") }
  }

  private var page: ByteBuffer {
    RequestText.post(
      "/database/1/\(MeasuredDaemon.scope)/private/changes/zone", token: token,
      body: #"{"zones":[{"zoneID":{"zoneName":"Zone","ownerRecordName":"\#(user)"}}]}"#.utf8)
  }

  private var notifications: ByteBuffer {
    RequestText.post(
      "/device/1/\(MeasuredDaemon.scope)/notifications/changes", token: token, body: "{}".utf8)
  }
}

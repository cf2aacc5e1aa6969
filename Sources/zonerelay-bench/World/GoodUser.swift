import NIOCore

/// A well-behaved user. The user's record server reports a change each second. The user's device
/// then reads the zone, which must show the change. If `readsNotifications` is true, the device
/// also reads the notifications after each fifth change. Each answer is timed from the moment when
/// the request was due.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only; results are read
/// after the run.
final class GoodUser: LoadCaller, @unchecked Sendable {
  static let count = 50
  private static let pace = TimeAmount.seconds(1)
  enum Step { case event, page, notifications }

  private let user: String
  private let token: String
  private let readsNotifications: Bool
  /// Whether the user still makes a change that is due this long after the start.
  private let goesOn: @Sendable (TimeAmount) -> Bool
  private let offset: TimeAmount
  private var writer: EventWriter
  private var step = Step.notifications
  private var sent = 0
  private var start = NIODeadline.now()
  private(set) var latencies: [Step: Latencies] = [:]
  /// Answers that a well-behaved user must not get.
  private(set) var refusals: [String] = []
  /// How many answers took longer than `AbusePhase.slowMilliseconds`, by the kind of request.
  private(set) var slow: [String: Int] = [:]

  init(
    _ number: Int, run: String, readsNotifications: Bool = true,
    while goesOn: @escaping @Sendable (TimeAmount) -> Bool
  ) {
    user = Self.name(number)
    token = MeasuredDaemon.userToken(user)
    self.readsNotifications = readsNotifications
    self.goesOn = goesOn
    offset = .nanoseconds(Self.pace.nanoseconds * Int64(number) / Int64(Self.count))
    writer = EventWriter(run: "\(run)-\(number)")
  }

  /// All users; each posts changes and reads for `length`.
  static func all(run: String, for length: TimeAmount) -> [GoodUser] {
    (0..<count).map { GoodUser($0, run: run) { $0 < length } }
  }

  static func name(_ number: Int) -> String { "_good\(number)" }

  func next(after answer: LoadAnswer?) throws -> Turn {
    if let answer { settle(answer) } else { start = .now() + offset }
    switch step {
    case .event:
      step = .page
      return .send(RequestText.page(of: "Zone", user: user, token: token))
    case .page where readsNotifications && sent.isMultiple(of: 5):
      step = .notifications
      return .send(RequestText.device("notifications/changes", token: token))
    case .page, .notifications:
      let due = start + .nanoseconds(Self.pace.nanoseconds * Int64(sent))
      guard goesOn(due - start) else { return .done }
      sent += 1
      step = .event
      let subject = EventWriter.Subject(user: user, zone: "Zone", record: "record-\(sent % 10)")
      return .sendAt(due, writer.single(subject))
    }
  }

  private func settle(_ answer: LoadAnswer) {
    latencies[step, default: Latencies()].add(nanoseconds: answer.took.nanoseconds)
    if answer.took > .milliseconds(AbusePhase.slowMilliseconds) { slow["\(step)", default: 0] += 1 }
    let isGood =
      switch step {
      case .event: answer.status == 202 && answer.number(after: #""accepted":"#) == 1
      case .page: answer.status == 200 && answer.text.contains(#""recordChangeTag":"\#(sent)""#)
      case .notifications: answer.status == 200
      }
    if !isGood { refusals.append("\(step): \(answer.status) \(answer.text.prefix(300))") }
  }
}

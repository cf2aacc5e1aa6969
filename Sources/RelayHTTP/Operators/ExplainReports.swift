import Dispatch
import RelayCore
import RelayEngine
import RelayWire
import Synchronization

/// Explanations as operators see them.
extension ExplainReport.ExplainedDevice {
  init(_ found: Explanation, _ keys: any PushKeys) {
    self.init(
      clientId: found.device.client.text, user: found.device.user.name,
      container: found.device.scope.container,
      environment: found.device.scope.environment.name,
      result: ExplainReport.Result(found.outcome, of: found.device, keys),
      deliveries: found.deliveries.map { delivery in
        var line = ExplainReport.Delivery(
          subscriptionID: delivery.subscription.name,
          result: ExplainReport.Result(delivery.outcome, of: found.device, keys))
        line.toldAt = delivery.told?.milliseconds
        line.acknowledged = delivery.receipt?.kind
        line.acknowledgedAt = delivery.receiptAt?.milliseconds
        return line
      },
      story: found.story.map { TraceLine($0, keys: keys) })
  }
}

extension ExplainReport.Result {
  init(_ outcome: Explanation.Outcome, of device: DeviceKey, _ keys: any PushKeys) {
    switch outcome {
    case .woken(let wake):
      self.init(outcome: "woken")
      (w, apnsID) = (wake, keys.pushID(device: device, wake: wake).text)
    case .not(let why):
      self.init(outcome: "not_woken")
      reason = ExplainReport.Reason(why)
    case .unknown: self.init(outcome: "unknown")
    }
  }
}

extension ExplainReport.Reason {
  init(_ reason: Explanation.Reason) {
    self.init(code: reason.code)
    switch reason {
    case .unregistered(let ended): at = ended?.milliseconds
    case .filterNotMet(let subscription): detail = subscription.name
    case .gathering(let time), .paced(let time), .betweenPolls(let time):
      until = time.milliseconds
    case .budget(let time, let isAlert):
      (until, detail) = (time.milliseconds, isAlert ? "alert" : "background")
    case .resting(let time, let why), .quarantined(let time, let why):
      (until, detail) = (time.milliseconds, why)
    case .routeStopped(let why), .rejected(let why), .retired(let why): detail = why
    case .underWay(let wake), .toldByCourier(let wake), .alreadyTold(let wake): w = wake
    case .fetched(let time), .withdrawn(let time): at = time.milliseconds
    case .noEffect, .otherUser, .zoneNotVisible, .onItsWay, .noSubscription, .ownChange,
      .notFolded, .noProvider, .queued, .notConnected, .stopping, .crowdedOut:
      break
    }
  }
}

extension ExplainReport.DeviceStanding {
  init(_ standing: Standing) {
    self.init(
      clientId: standing.device.client.text, user: standing.device.user.name,
      container: standing.device.scope.container,
      environment: standing.device.scope.environment.name,
      isRegistered: standing.registration != nil,
      waiting: standing.pending.map { part in
        ExplainReport.Waiting(
          what: part.part.text, reason: part.reason.map { ExplainReport.Reason($0) })
      })
    guard let registration = standing.registration else { return }
    route = TraceLine.RouteName(
      transport: registration.transport.name, topic: registration.topic)
    registeredAt = registration.at.milliseconds
    retired = registration.retirement?.reason
  }
}

/// Makes the explanations of one answer, for as long as its bounds allow. What is left out is
/// counted as further devices. The first explanation is made in any case.
struct ExplanationWork {
  private let search: TraceSearch
  private let standings: [Standing]
  private let keys: any PushKeys
  private let stepsMax: Int
  private let linesMax: Int
  private(set) var steps = 0
  private var lines = 0
  private var isBegun = false

  init(
    _ search: TraceSearch, _ standings: [Standing], keys: any PushKeys,
    bounds: (steps: Int, lines: Int) = (TraceSearch.stepsMax, TraceSearch.linesMax)
  ) {
    (self.search, self.standings, self.keys) = (search, standings, keys)
    (stepsMax, linesMax) = bounds
  }

  /// - Parameter hasTime: asked before each explanation but the first.
  mutating func report(at now: Instant, while hasTime: () -> Bool) -> ExplainReport {
    // The newest changes first, because they are asked for most.
    var changes: [ExplainReport.ExplainedChange] = []
    for name in search.found.reversed() {
      guard let entry = search.change(named: name) else { continue }
      changes.append(explained(name, TraceLine(entry, keys: keys), while: hasTime))
    }
    return ExplainReport(
      now: now.milliseconds, knownSince: search.since?.milliseconds, gaps: search.gaps,
      devices: standings.filter { search.known.contains($0.device) }
        .map { ExplainReport.DeviceStanding($0) },
      changes: changes.reversed(), moreChanges: search.hasMore)
  }

  private mutating func explained(
    _ name: Identifier, _ change: TraceLine, while hasTime: () -> Bool
  ) -> ExplainReport.ExplainedChange {
    let known = Set(search.devices(of: name))
    var (devices, count): ([ExplainReport.ExplainedDevice], Int) = ([], 0)
    for standing in standings where known.contains(standing.device) {
      guard !isBegun || (steps < stepsMax && lines < linesMax && hasTime()) else { break }
      isBegun = true
      let found = Explanation.of(name, in: search.entries, standing, counting: &steps)
      lines += found.reduce(0) { $0 + $1.deliveries.count + $1.story.count }
      devices += found.map { ExplainReport.ExplainedDevice($0, keys) }
      count += 1
    }
    return ExplainReport.ExplainedChange(
      change: change, devices: devices,
      moreDevices: search.devicesLeft(of: name) + known.count - count)
  }
}

/// Computes explanations one after the other, on a thread of its own: they may take seconds, and
/// the threads that answer devices and producers must not wait for them.
final class ExplanationQueue: Sendable {
  /// How many explanations are computed or wait for their turn at most.
  static let explanationsMax = 4

  private let queue = DispatchQueue(label: "zonerelay.explaining")
  private let count = Mutex(0)

  var isFull: Bool { count.withLock { $0 >= Self.explanationsMax } }

  /// - Parameters:
  ///   - isLate: asked when the explanation's turn comes. If it is true, nothing is computed,
  ///     because the operator would not get the answer.
  /// - Throws: `WireError` with 503 if too many explanations wait, or this one waited for too long.
  func run<Answer: Sendable>(
    unless isLate: @escaping @Sendable () -> Bool, _ make: @escaping @Sendable () throws -> Answer
  ) async throws -> Answer {
    let hasRoom = count.withLock { count in
      guard count < Self.explanationsMax else { return false }
      count += 1
      return true
    }
    guard hasRoom else {
      throw WireError(
        .tryAgainLater,
        "\(Self.explanationsMax) explanations are being made already; try again in a moment",
        retryAfterSeconds: 1)
    }
    defer { count.withLock { $0 -= 1 } }
    return try await withCheckedThrowingContinuation { continuation in
      queue.async {
        guard !isLate() else {
          return continuation.resume(
            throwing: WireError(
              .tryAgainLater, "the explanations before this one took too long; try again",
              retryAfterSeconds: 5))
        }
        continuation.resume(with: Result { try make() })
      }
    }
  }
}

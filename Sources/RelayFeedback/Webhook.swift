import Logging
import RelayCore
import RelayEngine
import RelayWire
import Synchronization

/// One scope's webhook: reads the next items from the durable feed, delivers the items, and then
/// moves the durable position up to which the server has taken items. A webhook holds at most one
/// page in memory and has at most one request under way, however long the server is unreachable.
final class Webhook: Sendable {
  /// What all webhooks share.
  struct World: Sendable {
    var store: any FeedbackStore
    var carrier: any WebhookCarrier
    var clock: any ClockReader
    var digest: TokenDigest
    var rule: FeedbackSending.Rule
    var version: String
    /// Reports what is wrong with a scope's webhook. `nil` means that nothing is wrong any more.
    var report: @Sendable (Scope, String?) -> Void
    var logger: Logger
  }

  private struct State {
    /// The webhook's settings; nil after the webhook was removed.
    var settings: WebhookSettings?
    var sending: FeedbackSending
    var taken: FeedbackPosition?
    var health: HealthSnapshot.Webhook
    /// The time at which the oldest waiting item was made.
    var waitingSince: Instant?
  }

  let scope: Scope
  private let world: World
  private let wakeUp = AsyncSignal()
  private let state: Mutex<State>

  init(_ settings: WebhookSettings, of scope: Scope, in world: World) {
    self.scope = scope
    self.world = world
    state = Mutex(
      State(
        settings: settings, sending: FeedbackSending(world.rule),
        health: HealthSnapshot.Webhook(scope: scope)))
  }

  var health: HealthSnapshot.Webhook {
    let now = world.clock.wall()
    return state.withLock { state in
      var health = state.health
      health.position = state.taken?.number ?? 0
      if let since = state.waitingSince {
        health.oldestAge = Double(max(0, (now - since).milliseconds)) / 1_000
      }
      return health
    }
  }

  func feedbackAdded() {
    state.withLock { $0.sending.feedbackAdded() }
    wakeUp.signal()
  }

  /// Applies a reload; `nil` ends the webhook. Unchanged settings only restart a webhook that has
  /// stopped.
  func reconfigure(_ settings: WebhookSettings?) {
    state.withLock { state in
      guard state.settings != settings || state.sending.isStopped else { return }
      state.settings = settings
      state.sending.renewed()
    }
    if settings == nil { world.report(scope, nil) }
    wakeUp.signal()
  }

  /// Runs until it is cancelled or its settings are removed.
  func run() async {
    while !Task.isCancelled, let settings = state.withLock({ $0.settings }) {
      let now = world.clock.boot()
      switch state.withLock({ $0.sending.next(at: now) }) {
      case .deliver:
        state.withLock { $0.health.state = .sending }
        ended(await deliver(to: settings))
      case .wait(let until): await wakeUp.wait(atMost: .milliseconds((until - now).milliseconds))
      case .nothing: await wakeUp.wait(atMost: nil)
      }
    }
  }

  private enum Delivered {
    case empty
    case taken(FeedbackPage)
    case failed(String, after: Span?)
    case refused
  }

  private func deliver(to settings: WebhookSettings) async -> Delivered {
    do throws(StoreError) {
      let known = state.withLock { $0.taken }
      let taken = if let known { known } else { try await world.store.feedbackTaken(in: scope) }
      let page = try await world.store.feedback(
        FeedbackQuery(
          after: taken, limit: world.rule.itemsMax, container: scope.container,
          environment: scope.environment))
      state.withLock { state in
        state.taken = taken
        state.waitingSince = page.items.first?.feedback.at
      }
      guard let last = page.items.last else { return .empty }
      let outcome = await carry(page, after: taken, to: settings)
      guard case .taken = outcome else { return outcome }
      try await world.store.takeFeedback(through: last.position, in: scope)
      state.withLock { $0.taken = last.position }
      return outcome
    } catch {
      // If the store did not record that the server took the items, they are delivered again, with
      // the same ids.
      return .failed("the store: \(error.message)", after: nil)
    }
  }

  private func carry(
    _ page: FeedbackPage, after taken: FeedbackPosition, to settings: WebhookSettings
  ) async -> Delivered {
    let delivery = FeedbackDelivery(
      container: scope.container, environment: scope.environment.name,
      items: page.items.map { FeedbackItem($0, digest: world.digest) },
      missedThrough: page.missed(after: taken))
    let answer: WebhookAnswer
    do {
      answer = try await world.carrier.carry(
        WebhookRequest(delivery, to: settings, at: world.clock.wall(), version: world.version))
    } catch let failure as WebhookFailure {
      return .failed(failure.reason, after: nil)
    } catch {
      return .failed("the items cannot be written as JSON: \(error)", after: nil)
    }
    switch answer.status {
    case 200...299: return .taken(page)
    case 410: return .refused
    case 300...399:
      return .failed(
        "it answered with status \(answer.status), and redirects are not followed",
        after: answer.retryAfter)
    default: return .failed("it answered with status \(answer.status)", after: answer.retryAfter)
    }
  }

  /// After this many failures in a row `status` reports the webhook. Fewer failures may only mean
  /// that the server restarts.
  private static let failuresTold = 3

  private func ended(_ delivered: Delivered) {
    // A failure by cancellation is no fault of the server.
    if Task.isCancelled, case .failed = delivered { return }
    // After a reload removed the webhook, no operator can act on a report about it.
    guard state.withLock({ $0.settings != nil }) else { return }
    let now = world.clock.boot()
    let draw = UInt64.random(in: 0...UInt64.max)
    let (failures, isStopped) = state.withLock { state in
      switch delivered {
      case .empty:
        state.health.state = .idle
        state.sending.ended(.empty, at: now, draw: draw)
      case .taken(let page):
        state.health.state = .idle
        state.health.sent += Int64(page.items.count)
        state.health.lastError = nil
        state.waitingSince = nil
        state.sending.ended(.taken(hasMore: page.hasMore), at: now, draw: draw)
      case .failed(let reason, let after):
        state.health.state = .retrying
        state.health.failed += 1
        state.health.lastError = reason
        state.sending.ended(.failed(after: after), at: now, draw: draw)
      case .refused:
        state.health.failed += 1
        state.health.lastError = "it answered with status 410"
        state.sending.ended(.refused, at: now, draw: draw)
        state.health.state = state.sending.isStopped ? .stopped : .retrying
      }
      return (state.sending.failures, state.sending.isStopped)
    }
    tell(delivered, failures: failures, isStopped: isStopped)
  }

  private func tell(_ delivered: Delivered, failures: Int, isStopped: Bool) {
    let name = "the webhook of \(scope.container) \(scope.environment.name)"
    switch delivered {
    case .empty: break
    case .taken: world.report(scope, nil)
    case .failed(let reason, _):
      guard failures >= Self.failuresTold else { return }
      if failures == Self.failuresTold { log("feedback is not taken", reason) }
      world.report(
        scope,
        "\(name) does not take feedback: \(reason); items wait in the feed and are tried again; "
          + "check its URL and the server behind it")
    case .refused:
      guard isStopped else { return }
      log("feedback is refused for good", "status 410")
      world.report(
        scope,
        "\(name) is stopped: its server answered with status 410, which means no more of it; "
          + "take feedback.url out of the configuration, or reload when it takes feedback again")
    }
  }

  private func log(_ message: Logger.Message, _ reason: String) {
    world.logger.warning(
      message,
      metadata: [
        "container": "\(scope.container)", "environment": "\(scope.environment.name)",
        "reason": "\(reason)",
      ])
  }
}

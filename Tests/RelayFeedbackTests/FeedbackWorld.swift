import Foundation
import Logging
import RelayCore
import RelayEngine
import RelayFeedback
import RelayMemory
import RelayMemoryStore
import RelayWire
import Synchronization

/// A feed in memory, webhooks, and servers with scripted answers.
struct FeedbackWorld {
  static let notes = Scope(container: "iCloud.com.example.notes", environment: .production)
  static let other = Scope(container: "iCloud.com.example.other", environment: .development)
  static let key = WebhookSettings.Key(
    id: "k1", bytes: Array("0123456789abcdef0123456789abcdef".utf8))

  let store: MemoryStore
  let servers = Servers()
  let webhooks: Webhooks
  let reports: Reports
  private let lease: Lease

  static func settings(
    _ scope: Scope = notes, keys: [WebhookSettings.Key] = [key]
  ) -> WebhookSettings {
    WebhookSettings(url: "https://api.example.com/\(scope.container)", keys: keys)
  }

  init(_ store: MemoryStore = MemoryStore(), rule: FeedbackSending.Rule = .quick) async throws {
    self.store = store
    let leases = try await store.claim(eras: [PartitionID(0): 1])
    lease = leases[0]
    let reports = Reports()
    self.reports = reports
    webhooks = Webhooks(
      store: store, carrier: servers, clock: WorldClock(), digest: { "digest\($0.count)" },
      rule: rule, version: "0.1.0", report: { reports.take($0, $1) },
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  /// Runs the webhooks beside `body`, and cancels them afterwards.
  func run(
    _ settings: [Scope: WebhookSettings] = [notes: settings()],
    _ body: () async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await webhooks.run() }
      webhooks.reconfigure(settings)
      try await body()
      group.cancelAll()
    }
  }

  func fold(_ numbers: ClosedRange<UInt64>, of scope: Scope = notes) async throws {
    var part = PartitionCut(id: PartitionID(0), cursor: Ordinal(0))
    part.feedback = numbers.map { Self.item($0, of: scope) }
    _ = try await store.fold(
      Cut(at: Instant(milliseconds: 1_000), partitions: [part]), leases: [lease])
    webhooks.feedbackChanged([scope])
  }

  static func item(_ number: UInt64, of scope: Scope = notes) -> Feedback {
    Feedback(
      device: DeviceKey(
        scope: scope, user: UserID("_abc"), client: ClientID(Identifier(high: 1, low: number))),
      address: Address(transport: .apns, topic: "com.example.notes", token: [1, 2, 3]),
      registeredAt: Instant(milliseconds: 5), registration: Ordinal(number),
      at: Instant(milliseconds: Int64(number)),
      news: .retired(reason: "Unregistered", since: Instant(milliseconds: 7)))
  }
}

extension FeedbackSending.Rule {
  /// A rule with pauses of one or two milliseconds, so that the tests need not wait.
  static var quick: FeedbackSending.Rule {
    var rule = FeedbackSending.Rule()
    rule.itemsMax = 3
    rule.retryFirst = Span(milliseconds: 1)
    rule.retryMax = Span(milliseconds: 2)
    return rule
  }
}

/// The sentences that `status` would show.
final class Reports: Sendable {
  private let said = Mutex<[Scope: String]>([:])
  func take(_ scope: Scope, _ sentence: String?) { said.withLock { $0[scope] = sentence } }
  subscript(scope: Scope) -> String? { said.withLock { $0[scope] } }
}

/// The servers of apps. Each scope's server gives its scripted answers in order, then 204. All
/// requests are kept.
final class Servers: WebhookCarrier {
  enum Conduct: Sendable {
    case answers(Int, retryAfter: Span? = nil)
    case drops
    /// Accepts the request and gives no answer until the delivery is cancelled.
    case hangs
    /// The server waits until the stream ends, and then answers with the status `then`.
    case waits(AsyncStream<Void>, then: Int)
  }

  private struct State {
    var conducts: [Scope: [Conduct]] = [:]
    var requests: [(scope: Scope, request: WebhookRequest, wasTaken: Bool)] = []
    var waiters: [(scope: Scope, count: Int, CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  func behave(_ conducts: [Conduct], in scope: Scope = FeedbackWorld.notes) {
    state.withLock { $0.conducts[scope] = conducts }
  }

  func requests(of scope: Scope = FeedbackWorld.notes) -> [WebhookRequest] {
    state.withLock { $0.requests.filter { $0.scope == scope }.map(\.request) }
  }

  /// The items of deliveries that were answered 2xx, in the order in which they came.
  func taken(of scope: Scope = FeedbackWorld.notes) throws -> [FeedbackItem] {
    try state.withLock { $0.requests.filter { $0.scope == scope && $0.wasTaken }.map(\.request) }
      .flatMap { try $0.delivery.items }
  }

  /// Returns when `count` deliveries in total have arrived.
  func came(_ count: Int, in scope: Scope = FeedbackWorld.notes) async {
    await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
      let isThere = state.withLock { state in
        if state.requests.count(where: { $0.scope == scope }) >= count { return true }
        state.waiters.append((scope, count, waiter))
        return false
      }
      if isThere { waiter.resume() }
    }
  }

  func carry(_ request: WebhookRequest) async throws(WebhookFailure) -> WebhookAnswer {
    let isNotes = request.url.hasSuffix(FeedbackWorld.notes.container)
    let scope = isNotes ? FeedbackWorld.notes : FeedbackWorld.other
    let (conduct, due) = state.withLock { state in
      let line = state.conducts[scope] ?? []
      let conduct = line.first ?? .answers(204)
      state.conducts[scope] = Array(line.dropFirst())
      let isTaken = if case .answers(200...299, _) = conduct { true } else { false }
      state.requests.append((scope, request, isTaken))
      let count = state.requests.count { $0.scope == scope }
      let due = state.waiters.filter { $0.scope == scope && $0.count <= count }.map(\.2)
      state.waiters.removeAll { $0.scope == scope && $0.count <= count }
      return (conduct, due)
    }
    for waiter in due { waiter.resume() }
    switch conduct {
    case .answers(let status, let retryAfter):
      return WebhookAnswer(status: status, retryAfter: retryAfter)
    case .drops: throw WebhookFailure("connection reset")
    case .waits(let stream, let status):
      for await _ in stream {}
      return WebhookAnswer(status: status)
    case .hangs:
      let (never, end) = AsyncStream<Never>.makeStream()
      for await _ in never {}
      _ = end
      throw WebhookFailure("cancelled")
    }
  }
}

extension WebhookRequest {
  var delivery: FeedbackDelivery {
    get throws { try JSONDecoder().decode(FeedbackDelivery.self, from: Data(body)) }
  }

  func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

struct WorldClock: ClockReader {
  private let start = ContinuousClock.now

  func wall() -> Instant { Instant(milliseconds: 1_795_230_000_000) }
  func boot() -> Instant {
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return Instant(milliseconds: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
  }
}

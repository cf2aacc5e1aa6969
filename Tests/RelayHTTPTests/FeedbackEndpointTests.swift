import Foundation
import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Synchronization
import Testing

/// `GET /feedback` on the control socket: the query that reaches the feed, and refused requests.
@Suite struct FeedbackEndpointTests {
  /// An API over a feed whose last position is 40; `asked` records the query.
  private static func admin(
    _ rig: Rig, _ asked: InboundRequest = InboundRequest(), webhooks: [HealthSnapshot.Webhook] = []
  ) async -> AdminAPI {
    AdminAPI(
      relay: rig.relay, reader: rig.relay, reads: rig.reads, keys: rig.keys, clock: TestClock(),
      access: await ScopeRegistry([:], keys: rig.keys, limits: HTTPLimits()),
      feedback: AdminAPI.Feedback(
        report: { query throws(StoreError) in
          asked.take(query)
          let report = FeedbackReport(
            items: [], next: 17, moreComing: true, missedThrough: 9)
          return (report, FeedbackPosition(40))
        }, webhooks: { webhooks }),
      settings: rig.settings)
  }

  private final class InboundRequest: Sendable {
    private let query = Mutex<FeedbackQuery?>(nil)
    func take(_ new: FeedbackQuery) { query.withLock { $0 = new } }
    var last: FeedbackQuery? { query.withLock { $0 } }
  }

  @Test func `the feedback endpoint passes the query's parameters to the feed`() async throws {
    let rig = await Rig()
    let asked = InboundRequest()
    let admin = await Self.admin(rig, asked)
    let text = try await Rig.ask(admin, "/feedback")
    #expect(text == #"{"items":[],"missedThrough":9,"moreComing":true,"next":17}"#)
    #expect(asked.last == FeedbackQuery(after: .zero, limit: 100))
    _ = try await Rig.ask(
      admin, "/feedback?after=40&limit=1000&container=iCloud.x&environment=production")
    #expect(
      asked.last
        == FeedbackQuery(
          after: FeedbackPosition(40), limit: 1_000, container: "iCloud.x",
          environment: .production))
  }

  @Test(arguments: [
    ("after=x", "after must be a number"), ("after=-1", "after must be"),
    ("after=99999999999999999999", "after must be"), ("limit=0", "limit must be"),
    ("limit=1001", "from 1 to 1000"), ("environment=test", "environment must be"),
    ("after=41", "begin again with after=0"),
  ])
  func `an invalid feedback query is refused with a reason`(query: String, reason: String)
    async throws
  {
    let rig = await Rig()
    let text = try await Rig.ask(await Self.admin(rig), "/feedback?\(query)")
    #expect(text.contains(reason) && text.contains("BAD_REQUEST"))
  }

  @Test func `status and metrics show webhooks`() async throws {
    let rig = await Rig()
    var hook = HealthSnapshot.Webhook(scope: Rig.scope)
    hook.state = .retrying
    hook.position = 16
    (hook.sent, hook.failed, hook.oldestAge) = (16, 4, 2.5)
    hook.lastError = "it answered with status 503"
    rig.relay.behave { conduct in
      var counts = HealthSnapshot.Feedback(scope: Rig.scope)
      (counts.retired, counts.silent) = (12, 5)
      conduct.health.feedback = [counts]
    }
    let admin = await Self.admin(rig, webhooks: [hook])
    let status = try JSONDecoder().decode(
      StatusReport.self, from: Data(try await Rig.ask(admin, "/status").utf8))
    #expect(
      status.webhooks == [
        .init(
          container: Rig.container, environment: "development", state: "retrying", position: 16,
          sent: 16, failed: 4, oldestAge: 2.5, lastError: "it answered with status 503")
      ])
    let metrics = try await Rig.ask(admin, "/metrics")
    let label = #"container="\#(Rig.container)",environment="development""#
    for line in [
      "feedback_items_total{\(label),reason=\"retired\"} 12",
      "feedback_items_total{\(label),reason=\"silent\"} 5",
      "webhook_items_taken_total{\(label)} 16", "webhook_failures_total{\(label)} 4",
      "webhook_oldest_age_seconds{\(label)} 2.5", "webhooks_stopped{\(label)} 0",
    ] { #expect(metrics.contains("zonerelay_\(line)\n"), "\(line)") }
  }
}

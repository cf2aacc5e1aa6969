import Logging
import RelayCore
import RelayEngine
import RelayFeedback
import RelayHTTP
import RelayWire

/// The parts for feedback: the webhooks, which deliver it to the apps' servers, and what operators
/// read, which is the feed and the state of the webhooks.
struct FeedbackParts {
  let webhooks: Webhooks
  let admin: AdminAPI.Feedback

  init(
    _ settings: Settings, store: any FeedbackStore, keys: any TokenKeys, clock: any ClockReader,
    issues: HealthIssues, logger: Logger
  ) {
    let digest: TokenDigest = { Hex.text(keys.digest($0).prefix(4)) }
    let webhooks = Webhooks(
      store: store, carrier: FeedbackPost(), clock: clock, digest: digest, version: Version.text,
      report: { issues.tell(webhookOf: $0, $1) }, logger: logger)
    webhooks.reconfigure(settings.webhooks)
    self.webhooks = webhooks
    admin = AdminAPI.Feedback(
      report: { query throws(StoreError) in
        let page = try await store.feedback(query)
        return (FeedbackReport(page, after: query.after, digest: digest), page.head)
      }, webhooks: { webhooks.health })
  }
}

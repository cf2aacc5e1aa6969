import Logging
import RelayCore
import RelayEngine
import RelayFeedback
import RelayHTTP
import RelayWire

/// The parts that deliver feedback to the apps' servers: the webhooks and their report for
/// operators.
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

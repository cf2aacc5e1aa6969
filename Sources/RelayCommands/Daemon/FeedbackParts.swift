import Logging
import RelayCore
import RelayEngine
import RelayFeedback
import RelayHTTP
import RelayWire

/// What is told to the apps' own servers: the webhooks, and what operators see of the feed.
struct FeedbackParts {
  let webhooks: Webhooks
  let desk: ControlDesk.Feedback

  init(
    _ settings: Settings, store: any FeedbackShelf, keys: any TokenKeys, clock: any ClockReader,
    troubles: Troubles, logger: Logger
  ) {
    let digest: TokenDigest = { Hex.text(keys.digest($0).prefix(4)) }
    let webhooks = Webhooks(
      shelf: store, carrier: FeedbackPost(), clock: clock, digest: digest, version: Version.text,
      report: { troubles.tell(webhookOf: $0, $1) }, logger: logger)
    webhooks.adopt(settings.webhooks)
    self.webhooks = webhooks
    desk = ControlDesk.Feedback(
      report: { query throws(StoreError) in
        let page = try await store.feedback(query)
        return (FeedbackReport(page, after: query.after, digest: digest), page.head)
      }, webhooks: { webhooks.vitals })
  }
}

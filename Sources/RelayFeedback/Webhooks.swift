package import Logging
package import RelayCore
package import RelayEngine
import ServiceLifecycle
import Synchronization

/// All webhooks, one for each scope. The webhooks are independent: a server that hangs delays no
/// other webhook, nor the relay's loop, nor a fold.
package final class Webhooks: Service, FeedbackObserver {
  private let world: Webhook.World
  private let hooks = Mutex<[Scope: Webhook]>([:])
  private let begun: AsyncStream<Webhook>
  private let begin: AsyncStream<Webhook>.Continuation

  /// - Parameters:
  ///   - store: the feed, and the position up to which each server has taken it.
  ///   - digest: makes the text that is shown for a push token.
  ///   - report: called with a sentence when a scope's webhook fails, and with nil when the webhook
  ///     works again or is removed.
  package init(
    store: any FeedbackStore, carrier: any WebhookCarrier, clock: any ClockReader,
    digest: @escaping TokenDigest, rule: FeedbackSending.Rule = FeedbackSending.Rule(),
    version: String, report: @escaping @Sendable (Scope, String?) -> Void, logger: Logger
  ) {
    world = Webhook.World(
      store: store, carrier: carrier, clock: clock, digest: digest, rule: rule, version: version,
      report: report, logger: logger)
    (begun, begin) = AsyncStream.makeStream()
  }

  /// From now on exactly these scopes have webhooks.
  package func reconfigure(_ settings: [Scope: WebhookSettings]) {
    let (known, fresh) = hooks.withLock { hooks in
      let known = Array(hooks.values)
      for hook in known where settings[hook.scope] == nil { hooks[hook.scope] = nil }
      var fresh: [Webhook] = []
      for (scope, one) in settings where hooks[scope] == nil {
        let hook = Webhook(one, of: scope, in: world)
        hooks[scope] = hook
        fresh.append(hook)
      }
      return (known, fresh)
    }
    for hook in known { hook.reconfigure(settings[hook.scope]) }
    for hook in fresh { begin.yield(hook) }
  }

  package func feedbackChanged(_ scopes: Set<Scope>) {
    for hook in hooks.withLock({ hooks in scopes.compactMap { hooks[$0] } }) {
      hook.feedbackAdded()
    }
  }

  /// The health of each webhook, ordered by scope.
  package var health: [HealthSnapshot.Webhook] {
    hooks.withLock { Array($0.values) }.map(\.health).sorted { $0.scope < $1.scope }
  }

  /// Runs until the daemon stops. The stop cancels deliveries under way, and the next start repeats
  /// them.
  package func run() async {
    await cancelWhenGracefulShutdown {
      await withDiscardingTaskGroup { group in
        for await hook in self.begun { group.addTask { await hook.run() } }
        group.cancelAll()
      }
    }
  }
}

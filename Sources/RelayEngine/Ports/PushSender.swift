package import RelayCore

/// A provider behind one route, as the engine sees it.
///
/// Implementations own their connections and run until cancelled. `send` may be called from any
/// task, at most `Limits.inFlightPerRoute` at once. A sender answers each push exactly once, within
/// the attempt's timeout. An attempt whose outcome is unknown ends with `.later(after: nil,
/// .attempt, …)`, because the same `id` makes a resend harmless. An attempt that certainly never
/// left usually ends with `.later(after: nil, .unsent, …)`. It ends with `.recalled` instead of
/// `.unsent` if the push was taken back, or if the sender stops, for example because another sender
/// replaces this one. If the provider certainly did not process a push (a GOAWAY's unprocessed
/// streams, a connection that never opened), the sender sends the push again, under the same `id`,
/// until the deadline.
package protocol PushSender: Sendable {
  /// Hands one push to the provider. Never throws: every failure is a verdict.
  ///
  /// - Parameters:
  ///   - handover: call its `begin` right before the first byte leaves, each time that the push is
  ///     sent, and its `written` when the last byte is written.
  ///   - answer: called once, on any thread; it must not block.
  func send(_ push: Push, _ handover: Handover, answer: @escaping @Sendable (Verdict) -> Void)

  /// Counters for status and metrics. Reading them is cheap, and any thread may do so.
  var health: SenderHealth { get }

  /// Runs the connections until the task is cancelled; returns when they are closed.
  func run() async
}

extension PushSender {
  /// Sends a push that is never taken back.
  package func send(_ push: Push, answer: @escaping @Sendable (Verdict) -> Void) {
    send(push, Handover(), answer: answer)
  }
}

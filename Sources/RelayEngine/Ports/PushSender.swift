package import RelayCore

/// A provider behind one route, as the engine sees it.
///
/// Implementations own their connections and run until cancelled. `send` may be called from any
/// task, at most `Limits.inFlightPerRoute` at once; it answers each push exactly once and always,
/// within the attempt's timeout: an attempt whose outcome nobody knows is
/// `.later(after: nil, .attempt, …)`, because the same `id` makes a resend harmless; one that
/// certainly never left is `.later(after: nil, .unsent, …)`, or `.recalled` where the reason is
/// that the sender stops: another takes its place. Pushes that the provider certainly did not
/// process (a GOAWAY's unprocessed streams, a connection that never opened) are sent again inside,
/// under the same `id`, until the deadline.
package protocol PushSender: Sendable {
  /// Hands one push to the provider. Never throws: every failure is a verdict.
  ///
  /// - Parameters:
  ///   - handover: asked right before the first byte leaves, each time that the push is sent, and
  ///     told when its last byte is written.
  ///   - answer: called once, on any thread, and must not block.
  func send(_ push: Push, _ handover: Handover, answer: @escaping @Sendable (Verdict) -> Void)

  /// For status and metrics; cheap, from any thread.
  var health: SenderHealth { get }

  /// Owns the connections until the task is cancelled; returns when they are closed.
  func run() async
}

extension PushSender {
  /// A push that is never taken back.
  package func send(_ push: Push, answer: @escaping @Sendable (Verdict) -> Void) {
    send(push, Handover(), answer: answer)
  }
}

/// What a delivery attempt taught us. Adapters turn every provider's answers into these; no status
/// code travels further inward.
package enum Verdict: Hashable, Sendable {
  /// The provider took it. Not: the device has it.
  case delivered
  /// The environment that was asked does not know the address, and the provider's other one took
  /// the push: it is asked first from now on.
  case deliveredElsewhere
  /// Not now. `after`: the provider's own wish, nil if it named none.
  case later(after: Span?, Blame, Reason)
  /// The provider says this address is dead, since `at` if it told.
  case gone(at: Instant?, Reason)
  /// Refused for good, and not the device's fault: our mistake or our configuration.
  case rejected(Reason)
  /// The payload is too large for the provider, whatever our limit says: a smaller one may do.
  case tooLarge(Reason)

  /// Whose trouble a postponement is: backoff belongs to it.
  package enum Blame: UInt8, Hashable, Sendable {
    /// Only this device is slowed down.
    case device
    /// Too much came from us at once: this device waits as it is told, and the route carries less
    /// at a time.
    case pace
    /// The provider or the connection: this attempt failed, the route stays open.
    case attempt
    /// The credential or our right to the topic is refused: the route is stopped and probed back
    /// to health. It costs no budget.
    case route
    /// The push certainly never left us: as `attempt`, and it costs no budget.
    case unsent
    /// The engine took the push back before it left, or its sender stopped: another is made at
    /// once. It costs no budget.
    case recalled
  }

  /// The provider's own word, such as `BadDeviceToken`, or ours, such as `deadline`. Shown in
  /// status and logs and never parsed.
  package struct Reason: Hashable, Sendable, CustomStringConvertible {
    package var text: String
    package init(_ text: String) { self.text = text }
    package var description: String { text }
  }
}

/// The result of a delivery attempt. Adapters translate every provider's answers into verdicts; no
/// status code reaches the core.
package enum Verdict: Hashable, Sendable {
  /// The provider accepted the push. This does not mean that the device has it.
  case delivered
  /// The tried environment does not know the address, and the provider's other one accepted the
  /// push. The other one is tried first from now on.
  case deliveredElsewhere
  /// Try again later. `after`: the delay that the provider asked for, nil if it gave none.
  case later(after: Span?, Blame, Reason)
  /// The provider reports this address as dead, since `at` if it gave a date.
  case gone(at: Instant?, Reason)
  /// Refused permanently, and not because of the device: our mistake or our configuration.
  case rejected(Reason)
  /// The payload is too large for the provider, although within our limit; a smaller one may pass.
  case tooLarge(Reason)

  /// The cause of a postponement, to which the backoff applies.
  package enum Blame: UInt8, Hashable, Sendable {
    /// Only this device is slowed down.
    case device
    /// The relay sent too much at once: this device waits as the provider asked, and the route has
    /// fewer pushes in flight.
    case pace
    /// The provider or the connection failed: only this attempt failed, and the circuit stays
    /// closed.
    case attempt
    /// The credential or our right to the topic was refused: the circuit opens until a probe
    /// succeeds. The attempt costs no budget.
    case route
    /// The push certainly never left the relay: like `attempt`, but the attempt costs no budget.
    case unsent
    /// The engine took the push back before it left, or its sender stopped. Another attempt is made
    /// at once. The attempt that was taken back costs no budget.
    case recalled
  }

  /// The provider's own reason, such as `BadDeviceToken`, or the relay's, such as `deadline`. Shown
  /// in status and logs, and never parsed.
  package struct Reason: Hashable, Sendable, CustomStringConvertible {
    package var text: String
    package init(_ text: String) { self.text = text }
    package var description: String { text }
  }
}

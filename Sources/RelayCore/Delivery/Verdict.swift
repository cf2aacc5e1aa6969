/// The result of a delivery attempt. Adapters translate every provider's answers into verdicts; no
/// status code reaches the core.
package enum Verdict: Hashable, Sendable {
  /// The provider accepted the push. This does not mean that the device has it.
  case delivered
  /// The tried environment refused the address, and the provider's other environment accepted the
  /// push. From now on the relay tries that other environment first.
  case deliveredElsewhere
  /// The attempt failed for now. `after` is the delay that the provider asked for; `nil` if it
  /// asked for none.
  case later(after: Span?, Blame, Reason)
  /// The provider reports this address as dead, since `at` if it gave a date.
  case gone(at: Instant?, Reason)
  /// The provider refused the push permanently, but does not report the address as dead. The cause
  /// is usually a mistake of the relay or its configuration.
  case rejected(Reason)
  /// The payload is too large for the provider, although it is within our limit. A smaller payload
  /// may pass.
  case tooLarge(Reason)

  /// Why an attempt failed for now. The next attempt is delayed, except after `recalled`.
  package enum Blame: UInt8, Hashable, Sendable {
    /// Only this device must wait. For the circuit, this counts as an answer of the provider.
    case device
    /// The relay sent too much at once: this device waits as the provider asked, and the route has
    /// fewer pushes in flight.
    case pace
    /// The provider or the connection failed for this attempt. The circuit stays closed until the
    /// attempts of many devices in a row have failed in this way.
    case attempt
    /// The credential or our right to the topic was refused: the circuit opens until a probe
    /// succeeds. The attempt costs no budget.
    case route
    /// The push certainly never left the relay. The effect is that of `attempt`, but the attempt
    /// costs no budget.
    case unsent
    /// The engine took the push back before it left, or its sender stopped. Another attempt is made
    /// at once. The attempt that was taken back costs no budget.
    case recalled
    /// The provider reports the address as dead, and the relay does not believe the report while
    /// too many addresses are reported dead. Only `Pruning` gives this blame.
    case quarantine
  }

  /// The provider's own reason, such as `BadDeviceToken`, or the relay's, such as `deadline`. The
  /// status and logs show it, and no code parses it.
  package struct Reason: Hashable, Sendable, CustomStringConvertible {
    package var text: String
    package init(_ text: String) { self.text = text }
    package var description: String { text }
  }
}

package import RelayCore

/// The machine's two clocks. The real one asks the kernel; tests move theirs by hand.
package protocol ClockReader: Sendable {
  /// Milliseconds since 1970; may jump either way.
  func wall() -> Instant
  /// Milliseconds since boot, sleep included; never goes back.
  func boot() -> Instant
}

/// Ids that a push carries, made from a key so that a resend after a crash carries the same.
package protocol PushKeys: Sendable {
  /// `apns-id`: a keyed hash of device and wake.
  func pushID(device: DeviceKey, wake: UInt32) -> Identifier
  /// At most 64 bytes that stand for a collapse value of any length: itself if it fits, else its
  /// SHA-256 in base64url.
  func collapseID(_ value: String) -> String
}

/// Whoever passes feedback on to the apps' own servers.
package protocol FeedbackObserver: Sendable {
  /// Items of these scopes became durable. Called from the loop: must not block.
  func feedbackChanged(_ scopes: Set<Scope>)
}

/// Whoever supervises the daemon. The real one is systemd.
package protocol ServiceNotifier: Sendable {
  /// The store has no room yet, and is tried again at least every few seconds, said each time.
  ///
  /// - Parameter line: for people.
  func waiting(_ line: String)
  /// Recovery is over: the daemon serves.
  func ready()
  /// One line for people.
  func status(_ line: String)
  /// The decision loop turned: beaten twice a turn, at least every `beatEvery` while it is idle. A
  /// turn is bounded (`WorkBounds`).
  func beat()
  var beatEvery: Span { get }
  /// The daemon is on its way out.
  ///
  /// - Parameter grace: so long it may wait for verdicts of pushes in flight; then it closes.
  func stopping(grace: Span)
}

extension ServiceNotifier {
  /// For those that do not mind.
  package func waiting(_ line: String) {}
  /// For those that do not mind.
  package var beatEvery: Span { .seconds(1) }
}

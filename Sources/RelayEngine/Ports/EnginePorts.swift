package import RelayCore

/// The machine's two clocks. The daemon reads the kernel's clocks; tests set the time by hand.
package protocol ClockReader: Sendable {
  /// Milliseconds since 1970; may jump either way.
  func wall() -> Instant
  /// Milliseconds since boot, sleep included; never goes back.
  func boot() -> Instant
}

/// Makes the ids that a push carries. Equal inputs give equal ids, so a resend after a crash
/// carries the same ids.
package protocol PushKeys: Sendable {
  /// The push's id (`apns-id`): a keyed hash of device and wake.
  func pushID(device: DeviceKey, wake: UInt32) -> Identifier
  /// A collapse id of at most 64 bytes: the value itself if it fits, else its SHA-256 in base64url.
  func collapseID(_ value: String) -> String
}

/// Passes new feedback on to the apps' own servers.
package protocol FeedbackObserver: Sendable {
  /// Items of these scopes became durable. The loop calls this function, which must not block.
  func feedbackChanged(_ scopes: Set<Scope>)
}

/// The supervisor of the daemon. The real one is systemd.
package protocol ServiceNotifier: Sendable {
  /// The store cannot be written yet, so recovery cannot begin. The engine tries again at least
  /// every few seconds and calls this each time.
  ///
  /// - Parameter line: a text for people.
  func waiting(_ line: String)
  /// Recovery is over, and the daemon serves requests.
  func ready()
  /// Reports one line of text for people.
  func status(_ line: String)
  /// Reports that the loop runs. The loop calls this twice a turn, and at least every `beatEvery`
  /// while it is idle. A turn is bounded (`WorkBounds`).
  func beat()
  var beatEvery: Span { get }
  /// The daemon is stopping.
  ///
  /// - Parameter grace: how long the daemon may wait for verdicts of pushes in flight before it
  ///   ends.
  func stopping(grace: Span)
}

extension ServiceNotifier {
  /// Does nothing, for notifiers that need no message while recovery waits.
  package func waiting(_ line: String) {}
  /// The default, for notifiers that do not require another time between beats.
  package var beatEvery: Span { .seconds(1) }
}

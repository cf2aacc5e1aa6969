public import Foundation

/// What the client is doing, for the app's user interface.
public enum SyncStatus: Hashable, Sendable {
  /// All work is done. The last call may have failed; its error tells why.
  case idle
  /// The client talks to the relay or waits for the sink.
  case working
  /// An earlier request failed. The client waits until this time before it sends the next one.
  case waiting(until: Date)
  /// No user is signed in, or the relay refuses the user's token.
  case signedOut
}

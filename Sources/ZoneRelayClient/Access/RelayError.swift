/// Why a call of the client failed.
public struct RelayError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the failure, with a name that does not change.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    public let description: String
    private init(_ name: String) { description = name }

    /// No user is signed in, or the relay refuses the user's token. Sign in, then call again.
    public static let signedOut = Code("signed_out")
    /// No whole answer came. The next call waits until `retryAfter` has passed.
    public static let unreachable = Code("unreachable")
    /// The relay is busy, is stopping, or limits this user. The next call waits until `retryAfter`
    /// has passed.
    public static let busy = Code("busy")
    /// The relay refuses the request, and would refuse it again. `message` says what is wrong.
    public static let refused = Code("refused")
    /// The answer is not what a relay gives: it may come from a network that asks for a sign-in, or
    /// from a faulty server.
    public static let badAnswer = Code("bad_answer")
    /// The stored state cannot be read, is of a newer form, or cannot be saved.
    public static let badState = Code("bad_state")
  }

  public let code: Code
  public let message: String
  /// How long the next call will wait before it sends a request; nil if it will not wait. In a
  /// ``SubscriptionResult``: how long this subscription is not sent again.
  public let retryAfter: Duration?

  init(_ code: Code, _ message: String, retryAfter: Duration? = nil) {
    self.code = code
    self.message = message
    self.retryAfter = retryAfter
  }

  public var description: String { "\(code): \(message)" }

  /// Whether the same call may succeed later without any action of the app.
  public var isPassing: Bool { [.unreachable, .busy, .badAnswer].contains(code) }
}

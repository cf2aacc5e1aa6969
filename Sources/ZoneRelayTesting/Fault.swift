/// What goes wrong with one request.
public enum Fault: Hashable, Sendable {
  /// The request does not reach the relay.
  case unreachable
  /// The relay does what the request asks, and its answer is lost.
  case lostAnswer
  /// The relay, or a proxy before it, answers with this status and does nothing.
  case status(Int, retryAfter: Int? = nil)
}

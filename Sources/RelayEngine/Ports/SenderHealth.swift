/// Counters and gauges of a sender. Counters count since the sender was made.
package struct SenderHealth: Hashable, Sendable {
  /// Connections that can take requests for the provider now.
  package var connections = 0
  /// Requests that wait for a connection or a stream now.
  package var waiting = 0
  /// Connections that were opened.
  package var opened: Int64 = 0
  /// Requests that were sent again because the provider certainly did not process them.
  package var resent: Int64 = 0
  /// Requests without an answer: the timeout came, or their connection ended.
  package var unanswered: Int64 = 0
  /// Answers that the relay does not know; after each of them the relay tries the push again later.
  package var unknownAnswers: Int64 = 0

  package init() {}

  static func += (left: inout SenderHealth, right: SenderHealth) {
    left.connections += right.connections
    left.waiting += right.waiting
    left.opened += right.opened
    left.resent += right.resent
    left.unanswered += right.unanswered
    left.unknownAnswers += right.unknownAnswers
  }
}

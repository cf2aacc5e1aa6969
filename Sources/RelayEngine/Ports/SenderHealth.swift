/// What a sender has done and is doing. Counters count since it was made.
package struct SenderHealth: Hashable, Sendable {
  /// Connections to the provider that take requests now.
  package var connections = 0
  /// Requests that wait for a connection or a stream now.
  package var waiting = 0
  /// Connections that were opened.
  package var opened: Int64 = 0
  /// Requests sent again, because the provider certainly did not process them.
  package var resent: Int64 = 0
  /// Requests that ended without an answer: too late, or with their connection.
  package var unanswered: Int64 = 0
  /// Answers that no list of ours knows; each was treated as a failed attempt.
  package var unknownAnswers: Int64 = 0

  package init() {}
}

package import RelayCore
package import RelayEngine
package import RelayWire

/// The requests of the apps' own servers for the feed of feedback, on the control socket.
extension AdminAPI {
  /// Reads the feed of feedback, and the state of the webhooks that deliver it.
  package struct Feedback: Sendable {
    /// Reads a page of the feed, and the last position that the store has ever assigned.
    let report:
      @Sendable (FeedbackQuery) async throws(StoreError) -> (FeedbackReport, FeedbackPosition)
    let webhooks: @Sendable () -> [HealthSnapshot.Webhook]

    package init(
      report:
        @escaping @Sendable (FeedbackQuery) async throws(StoreError) -> (
          FeedbackReport, FeedbackPosition
        ),
      webhooks: @escaping @Sendable () -> [HealthSnapshot.Webhook]
    ) {
      self.report = report
      self.webhooks = webhooks
    }

    /// A feed that is always empty, without webhooks.
    package static let none = Feedback(
      report: { _ in
        (FeedbackReport(items: [], next: 0, moreComing: false, missedThrough: nil), .zero)
      }, webhooks: { [] })
  }

  /// - Throws: `WireError`, also for a position that this store never assigned. A client that reads
  ///   from such a position would miss all items until the feed reaches that position.
  func feedback(_ query: FeedbackQuery) async throws -> FeedbackReport {
    let (report, head) = try await counted { try await feedback.report(query) }
    guard query.after <= head else {
      throw WireError(
        .badRequest,
        "after is \(query.after.number), and the last position is \(head.number): it is of another "
          + "store, or of this one before it was restored from a copy; begin again with after=0")
    }
    return report
  }
}

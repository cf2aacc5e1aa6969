import Hummingbird
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
    let (report, head): (FeedbackReport, FeedbackPosition)
    do throws(StoreError) {
      (report, head) = try await feedback.report(query)
    } catch {
      reads.failed(error)
      throw WireError(error)
    }
    guard query.after <= head else {
      throw WireError(
        .badRequest,
        "after is \(query.after.number), and the last position is \(head.number): it is of another "
          + "store, or of this one before it was restored from a copy; begin again with after=0")
    }
    return report
  }
}

extension ControlResponder {
  /// The highest number of items in one answer.
  private static let feedbackItemsMax = 1_000

  static func query(_ request: Request) throws(WireError) -> FeedbackQuery {
    func number(
      _ name: String, _ range: ClosedRange<UInt64>, default standard: UInt64
    ) throws(WireError) -> UInt64 {
      guard let text = PercentText.parameter(name, of: request.uri.query) else { return standard }
      guard let number = UInt64(text), range.contains(number) else {
        throw WireError(
          .badRequest, "\(name) must be a number from \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }
    var query = FeedbackQuery(
      after: FeedbackPosition(try number("after", 0...UInt64(Int64.max), default: 0)),
      limit: Int(try number("limit", 1...UInt64(feedbackItemsMax), default: 100)),
      container: PercentText.parameter("container", of: request.uri.query))
    if let name = PercentText.parameter("environment", of: request.uri.query) {
      guard let environment = Environment(name: name) else {
        throw WireError(.badRequest, "environment must be \"development\" or \"production\"")
      }
      query.environment = environment
    }
    return query
  }
}

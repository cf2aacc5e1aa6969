/// A query for one page of the feed of feedback.
package struct FeedbackQuery: Hashable, Sendable {
  package var after: FeedbackPosition
  package var limit: Int
  /// The container that the reader asks for; `nil` means any. The same holds for `environment`.
  package var container: String?
  package var environment: Environment?

  package init(
    after: FeedbackPosition, limit: Int, container: String? = nil, environment: Environment? = nil
  ) {
    self.after = after
    self.limit = limit
    self.container = container
    self.environment = environment
  }

  package func means(_ scope: Scope) -> Bool {
    (container == nil || container == scope.container)
      && (environment == nil || environment == scope.environment)
  }
}

/// The answer to a `FeedbackQuery`, read from one snapshot.
package struct FeedbackPage: Hashable, Sendable {
  package struct Item: Hashable, Sendable {
    package var position: FeedbackPosition
    package var feedback: Feedback

    package init(position: FeedbackPosition, feedback: Feedback) {
      self.position = position
      self.feedback = feedback
    }
  }

  package var items: [Item]
  /// Whether further items follow the last one.
  package var hasMore: Bool
  /// The position up to which items of the queried scopes were trimmed. A reader that continues
  /// after an earlier position may have missed items.
  package var floor: FeedbackPosition
  /// The last position ever assigned, in any scope. A reader with a later position has that
  /// position from another store, or from this store before it was restored from a copy.
  package var head: FeedbackPosition

  package init(
    items: [Item], hasMore: Bool, floor: FeedbackPosition, head: FeedbackPosition
  ) {
    (self.items, self.hasMore, self.floor, self.head) = (items, hasMore, floor, head)
  }

  /// The position after which a reader continues, if it queried after `position`.
  package func next(after position: FeedbackPosition) -> FeedbackPosition {
    items.last?.position ?? max(position, floor)
  }
}

package import RelayCore

/// Keeps feedback for the apps' own servers until it is trimmed: one feed for all scopes, in the
/// order of the folds that wrote the items.
///
/// Items enter with `Store.fold`, in the transaction that makes the reported events durable. The
/// store keeps at most `Limits.feedbackItems` items of each scope, and no item longer than the
/// retention of feedback.
package protocol FeedbackStore: Sendable {
  /// The items after a position, oldest first, read in one snapshot.
  func feedback(_ query: FeedbackQuery) async throws(StoreError) -> FeedbackPage

  /// The position up to which a scope's webhook server has taken its items; zero if it never took
  /// any.
  func feedbackTaken(in scope: Scope) async throws(StoreError) -> FeedbackPosition

  /// Notes that the scope's webhook server has taken every item up to `position`. The noted
  /// position never goes back; the call returns when the position is durable.
  func takeFeedback(through position: FeedbackPosition, in scope: Scope) async throws(StoreError)
}

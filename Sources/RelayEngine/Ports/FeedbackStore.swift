package import RelayCore

/// Where feedback for the apps' own servers is kept until it is trimmed: one feed over all scopes,
/// in the order of the folds that brought it.
///
/// Items enter with `Store.fold`, in the transaction that makes what they tell durable. Each scope
/// keeps at most `Limits.feedbackItems`, no longer than its retention.
package protocol FeedbackStore: Sendable {
  /// What stands after a position, oldest first. One snapshot.
  func feedback(_ query: FeedbackQuery) async throws(StoreError) -> FeedbackPage

  /// How far the webhook's server of a scope has taken its items; zero if it never took any.
  func feedbackTaken(in scope: Scope) async throws(StoreError) -> FeedbackPosition

  /// Its server has taken everything up to here. Never goes back; returns when it is durable.
  func takeFeedback(through position: FeedbackPosition, in scope: Scope) async throws(StoreError)
}

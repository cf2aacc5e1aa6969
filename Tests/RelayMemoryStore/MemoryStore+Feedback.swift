package import RelayCore
import RelayEngine
import RelayMemory

extension MemoryStore {
  package func feedback(_ query: FeedbackQuery) async throws(StoreError) -> FeedbackPage {
    world.feedback.page(query)
  }

  package func feedbackTaken(in scope: Scope) async throws(StoreError) -> FeedbackPosition {
    world.feedback.taken[scope] ?? .zero
  }

  package func takeFeedback(
    through position: FeedbackPosition, in scope: Scope
  ) async throws(StoreError) {
    try write(nil) { world throws(StoreError) in
      world.feedback.taken[scope] = max(world.feedback.taken[scope] ?? .zero, position)
    }
  }
}

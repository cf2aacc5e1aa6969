package import RelayCore
import RelayEngine

extension SQLiteStore {
  package func feedback(_ query: FeedbackQuery) async throws(StoreError) -> FeedbackPage {
    try await relay.read { try FeedbackTable(database: $0).page(query) }
  }

  package func feedbackTaken(in scope: Scope) async throws(StoreError) -> FeedbackPosition {
    try await relay.read { try FeedbackTable(database: $0).taken(in: scope) }
  }

  package func takeFeedback(
    through position: FeedbackPosition, in scope: Scope
  ) async throws(StoreError) {
    let result = await relay.write { database in
      if let refusal = self.refusal(to: [], []) { throw refusal }
      try FeedbackTable(database: database).take(through: position, in: scope)
    }
    try settle(result).get()
  }
}

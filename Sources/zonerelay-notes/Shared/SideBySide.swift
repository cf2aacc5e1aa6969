/// Does all at the same time; the first that ends or fails, ends all.
func sideBySide(_ works: (@Sendable () async throws -> Void)...) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for work in works { group.addTask { try await work() } }
    defer { group.cancelAll() }
    try await group.next()
  }
}

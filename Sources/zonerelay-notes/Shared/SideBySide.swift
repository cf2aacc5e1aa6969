/// Runs all works at the same time. The first work that ends or fails ends all of them.
func sideBySide(_ works: (@Sendable () async throws -> Void)...) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for work in works { group.addTask { try await work() } }
    defer { group.cancelAll() }
    try await group.next()
  }
}

package import RelayCore
import Synchronization

/// The present problems outside the engine, each under its own name until `settle` removes it.
/// `status` shows these problems among its reasons.
package final class HealthIssues: Sendable {
  private let open = Mutex<[String: String]>([:])

  package init() {}

  /// - Parameter sentence: what is wrong, and its remedy.
  package func tell(_ name: String, _ sentence: String) { open.withLock { $0[name] = sentence } }

  /// Removes a problem that is solved, or that no longer matters.
  package func settle(_ name: String) { open.withLock { $0[name] = nil } }

  /// - Parameter sentence: what is wrong; `nil` means that the scope's webhook works.
  package func tell(webhookOf scope: Scope, _ sentence: String?) {
    open.withLock { $0["webhook \(scope.container) \(scope.environment.name)"] = sentence }
  }

  /// The sentences of all problems, sorted by the problems' names.
  package var reasons: [String] {
    open.withLock { open in open.sorted { $0.key < $1.key }.map(\.value) }
  }
}

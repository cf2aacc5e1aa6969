package import RelayCore
import Synchronization

/// The present problems outside the engine, each under its own name until `settle` removes it.
/// `status` shows these problems among its reasons.
package final class HealthIssues: Sendable {
  private let open = Mutex<[String: String]>([:])

  package init() {}

  /// Adds or replaces the problem `name`.
  ///
  /// - Parameter sentence: what is wrong, and what the operator can do about it.
  package func tell(_ name: String, _ sentence: String) { open.withLock { $0[name] = sentence } }

  /// Removes a problem that is solved, or that no longer matters.
  package func settle(_ name: String) { open.withLock { $0[name] = nil } }

  /// Adds, replaces or removes the problem of a scope's webhook.
  ///
  /// - Parameter sentence: what is wrong; `nil` means that the webhook works.
  package func tell(webhookOf scope: Scope, _ sentence: String?) {
    open.withLock { $0["webhook \(scope.container) \(scope.environment.name)"] = sentence }
  }

  /// The sentences of all problems, sorted by the problems' names.
  package var reasons: [String] {
    open.withLock { open in open.sorted { $0.key < $1.key }.map(\.value) }
  }
}

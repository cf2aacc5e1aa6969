package import RelayCore
import Synchronization

/// What is wrong outside the engine, each under a name of its own until it is settled: `status`
/// shows them among its reasons.
package final class HealthIssues: Sendable {
  private let open = Mutex<[String: String]>([:])

  package init() {}

  /// - Parameter sentence: what is wrong, and its remedy.
  package func tell(_ name: String, _ sentence: String) { open.withLock { $0[name] = sentence } }

  /// It is well again, or concerns nobody any more.
  package func settle(_ name: String) { open.withLock { $0[name] = nil } }

  /// - Parameter sentence: nil: the scope's webhook is well.
  package func tell(webhookOf scope: Scope, _ sentence: String?) {
    open.withLock { $0["webhook \(scope.container) \(scope.environment.name)"] = sentence }
  }

  /// In the order of their names.
  package var reasons: [String] {
    open.withLock { open in open.sorted { $0.key < $1.key }.map(\.value) }
  }
}

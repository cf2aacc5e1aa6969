package import RelayCore
import Synchronization

/// Which users and producers may use each scope. A reload of the configuration replaces all scopes.
package final class ScopeRegistry: Sendable {
  private let authenticators: Mutex<[Scope: ScopeAuthenticator]>
  private let keys: any TokenKeys
  private let limits: HTTPLimits

  package init(
    _ scopes: [Scope: ScopeAccess], keys: any TokenKeys, limits: HTTPLimits
  ) async {
    self.keys = keys
    self.limits = limits
    authenticators = Mutex(await Self.authenticators(scopes, keys, limits))
  }

  /// Replaces all scopes. User tokens that were verified before must be verified again.
  package func replace(with scopes: [Scope: ScopeAccess]) async {
    let fresh = await Self.authenticators(scopes, keys, limits)
    authenticators.withLock { $0 = fresh }
  }

  /// The configured scopes, sorted.
  var scopes: [Scope] { authenticators.withLock { $0.keys.sorted() } }

  func authenticator(of scope: Scope) -> ScopeAuthenticator? {
    authenticators.withLock { $0[scope] }
  }

  /// The listed web origin that equals `origin`, among those of this scope. If the scope is nil or
  /// not configured, the origins of all scopes are searched: pages of every listed origin may see
  /// the error for such a request, because the error reveals nothing.
  func listed(_ origin: String, in scope: Scope?) -> String? {
    let authenticators = authenticators.withLock { $0 }
    if let scope, let authenticator = authenticators[scope] { return authenticator.listed(origin) }
    return authenticators.values.lazy.compactMap { $0.listed(origin) }.first
  }

  private static func authenticators(
    _ scopes: [Scope: ScopeAccess], _ keys: any TokenKeys, _ limits: HTTPLimits
  ) async -> [Scope: ScopeAuthenticator] {
    var authenticators: [Scope: ScopeAuthenticator] = [:]
    for (scope, access) in scopes {
      authenticators[scope] = await ScopeAuthenticator(scope, access, keys: keys, limits: limits)
    }
    return authenticators
  }
}

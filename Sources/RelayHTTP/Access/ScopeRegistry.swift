package import RelayCore
import Synchronization

/// Which users and producers may use each scope. A reload of the configuration replaces all of it.
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

  /// Replaces all scopes. Tokens verified before are verified again.
  package func replace(with scopes: [Scope: ScopeAccess]) async {
    let fresh = await Self.authenticators(scopes, keys, limits)
    authenticators.withLock { $0 = fresh }
  }

  /// The configured scopes, sorted.
  var scopes: [Scope] { authenticators.withLock { $0.keys.sorted() } }

  func authenticator(of scope: Scope) -> ScopeAuthenticator? {
    authenticators.withLock { $0[scope] }
  }

  /// A web origin that is listed in a scope. If there is no such scope, an origin listed in any
  /// scope: its page may see the error, which reveals nothing.
  func listed(_ origin: String, in scope: Scope?) -> String? {
    let authenticators = authenticators.withLock { $0 }
    if let scope, let authenticator = authenticators[scope] { return authenticator.listed(origin) }
    for authenticator in authenticators.values {
      if let listed = authenticator.listed(origin) { return listed }
    }
    return nil
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

package import RelayCore

/// Who a change is.
package struct ChangeIdentity: Hashable, Sendable {
  /// The `nid`: equal across retries, producers' restarts and partitions.
  package var notification: Identifier
  /// What the id memory keeps: differs by producer as well.
  package var fingerprint: UInt64

  package init(notification: Identifier, fingerprint: UInt64) {
    self.notification = notification
    self.fingerprint = fingerprint
  }
}

/// The keyed identities given to what comes in. Pure: equal input, equal output, in
/// every process that holds the same keys; nobody without the keys can tell or forge one.
package protocol IdentityKeys: Sendable {
  /// Who a change is, to readers and to the id memory. `producer` names it uniquely in the whole
  /// relay, scope included: two scopes may both have a producer of one name.
  func identity(scope: Scope, producer: String, source: String, id: String) -> ChangeIdentity

  /// Which number space `sequence` counts in, within each zone. `producer` as above.
  func origin(producer: String, source: String) -> UInt64

  /// The id of an installation that did not name itself, made from its push token.
  func clientID(forToken token: [UInt8], scope: Scope) -> ClientID
}

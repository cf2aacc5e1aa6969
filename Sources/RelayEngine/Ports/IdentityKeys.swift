package import RelayCore

/// The identity of a change.
package struct ChangeIdentity: Hashable, Sendable {
  /// The notification id (`nid`): the same in retries, after restarts of the producer, and in all
  /// partitions.
  package var notification: Identifier
  /// The hash by which a partition remembers the change. Changes of two producers have different
  /// fingerprints even if their source and id are equal.
  package var fingerprint: UInt64

  package init(notification: Identifier, fingerprint: UInt64) {
    self.notification = notification
    self.fingerprint = fingerprint
  }
}

/// Derives keyed identities of inputs. Equal inputs give equal outputs in every process that holds
/// the same keys. Without the keys an identity can be neither recognised nor forged.
package protocol IdentityKeys: Sendable {
  /// The identity of a change for readers and for the memory of known changes. `producer` is unique
  /// in the whole relay and includes the scope: two scopes may both have a producer of one name.
  func identity(scope: Scope, producer: String, source: String, id: String) -> ChangeIdentity

  /// The number space in which `sequence` counts, within each zone. `producer` includes the scope.
  func origin(producer: String, source: String) -> UInt64

  /// The id of an installation that sent no id, derived from its push token.
  func clientID(forToken token: [UInt8], scope: Scope) -> ClientID
}

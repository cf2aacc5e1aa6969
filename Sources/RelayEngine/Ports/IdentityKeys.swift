package import RelayCore

/// The keyed identities that a door gives to what comes in. Pure: equal input, equal output, in
/// every process that holds the same keys; nobody without the keys can tell or forge one.
package protocol IdentityKeys: Sendable {
  /// The `nid` of a change: equal across retries, producers' restarts and partitions.
  func notificationID(scope: Scope, source: String, id: String) -> Identifier

  /// What the id memory keeps of a change. `producer` names it uniquely in the whole relay, scope
  /// included: two scopes may both have a producer of one name.
  func fingerprint(producer: String, source: String, id: String) -> UInt64

  /// Which number space `sequence` counts in, within each zone. `producer` as above.
  func origin(producer: String, source: String) -> UInt64

  /// The id of an installation that did not name itself, made from its push token.
  func clientID(forToken token: [UInt8], scope: Scope) -> ClientID
}

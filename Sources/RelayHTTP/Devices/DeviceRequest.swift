import RelayCore
import RelayWire

/// A device's request whose sender and body are known: a user in a scope, and the installation if
/// the request names one.
struct DeviceRequest: Sendable {
  let authenticator: ScopeAuthenticator
  let user: UserID
  let client: ClientID?
  let body: JSONCursor
  let query: String?
  /// When the request stops waiting for what it reads, on the boot clock.
  let until: Instant
  /// The memory reserved for the request's answer.
  let answer: AnswerRoom

  var scope: Scope { authenticator.scope }

  /// The caller against whose shares this request counts.
  var caller: CallerID { .user(scope, user) }

  /// The device that acknowledges what this request reads; `nil` means that the request names no
  /// installation and acknowledges nothing.
  var device: DeviceKey? { client.map { key(of: $0) } }

  func key(of client: ClientID) -> DeviceKey {
    DeviceKey(scope: scope, user: user, client: client)
  }

  func feed(_ kind: FeedKey.Kind) -> FeedKey { FeedKey(scope: scope, kind: kind) }

  /// The user who owns a zone for which the request names no owner.
  func owner(in database: Database) -> UserID {
    database == .public ? ZoneID.publicDefault.owner : user
  }
}

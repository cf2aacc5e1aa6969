import RelayCore

/// One installation of the app, with a user who opens it now and then.
struct Client {
  let id: ClientID
  var user: UserID
  /// The client's push token from the provider; a restore of the phone changes the token.
  var token: UInt8
  var isMute: Bool
  /// The user of the last registration that the relay has answered; nil if the client is not
  /// registered.
  var registered: UserID?
  var follows: [FeedKey: Follow] = [:]
  /// True if the client has no address at a provider.
  var isCourierOnly = false
  /// The client's poll or stream, while one is open.
  var line: CourierVisit?
  /// The newest wake that the courier delivered, for each registration of the client.
  var lastWake: [DeviceKey: UInt32] = [:]

  var key: DeviceKey { DeviceKey(scope: World.scope, user: user, client: id) }
  var address: Address {
    if isCourierOnly { return Address(transport: .courier, topic: "", token: [token]) }
    return Address(
      transport: .apns, topic: World.topic(of: token), token: [token],
      environment: World.said(of: token))
  }
}

/// What a client holds of one feed.
struct Follow {
  /// The change token; nil means that the client reads the feed from its beginning.
  var token: [UInt8]?
  var held: [Subject: String] = [:]
  /// Why the token must read nothing more: the token is of a history that a restore undid (P10), or
  /// from before a revocation (P9). `nil` means that the token is good.
  var tokenIsVoid: Invariant?
  var isFetching = false
}

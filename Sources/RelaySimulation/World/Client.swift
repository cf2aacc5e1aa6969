import RelayCore

/// One installation of the app, with a user who opens it now and then.
struct Client {
  let id: ClientID
  var user: UserID
  /// Its push token from the provider; a restore of the phone gives it another.
  var token: UInt8
  var isMute: Bool
  /// The user for whom it believes to be registered.
  var registered: UserID?
  var follows: [FeedKey: Follow] = [:]
  /// True if it has no address at a provider.
  var isCourierOnly = false
  /// Its poll or stream, while one is open.
  var line: CourierVisit?
  /// The newest wake that the courier delivered to it.
  var lastWake: [DeviceKey: UInt32] = [:]

  var key: DeviceKey { DeviceKey(scope: World.scope, user: user, client: id) }
  var address: Address {
    if isCourierOnly { return Address(transport: .courier, topic: "", token: [token]) }
    return Address(
      transport: .apns, topic: World.topic(of: token), token: [token],
      environment: World.said(of: token))
  }
}

/// What a client knows of one feed.
struct Follow {
  /// Nil: the client reads the feed from its beginning.
  var token: [UInt8]?
  var held: [Subject: String] = [:]
  /// True if the token is of a history that a restore undid, or from before a revocation.
  var isOfLostHistory = false
  var isFetching = false
}

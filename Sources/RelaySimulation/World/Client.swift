import RelayCore

/// One installation of the app, with a person who looks at it now and then.
struct Client {
  let id: ClientID
  var user: UserID
  /// Its push token as the provider gave it; another after a restore of the phone.
  var token: UInt8
  var isMute: Bool
  /// The user it believes to be registered for.
  var registered: UserID?
  var follows: [FeedKey: Follow] = [:]
  /// It has no address at a provider.
  var isCourierOnly = false
  /// Its poll or stream, if one is open.
  var line: CourierVisit?
  /// The newest wake that the courier brought it.
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
  /// Nil: from the start.
  var token: [UInt8]?
  var held: [Subject: String] = [:]
  /// The token was given by a history that a restore took back, or before a revocation.
  var isOfLostHistory = false
  var isFetching = false
}

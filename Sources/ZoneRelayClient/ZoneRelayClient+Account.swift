extension ZoneRelayClient {
  /// The signed-in user's token.
  ///
  /// - Throws: `signedOut` if no user is signed in.
  func user() async throws -> UserToken {
    if let token { return token }
    return try await signIn(.needed)
  }

  /// Asks the app for a token. The sink learns of another user before anything of that user is
  /// fetched.
  func signIn(_ reason: CredentialReason) async throws -> UserToken {
    token = nil
    guard let new = try await credentials(reason) else {
      // A crash or an error of the sink has interrupted a change of the user, or the app has named
      // another container or environment. The sink may not know of this change.
      if state.isChanging { try await change(to: nil) }
      show(.signedOut)
      throw RelayError(.signedOut, "no user is signed in")
    }
    if !state.isOf(new.user) || state.isChanging { try await change(to: new.user) }
    // The last failure was about another token, so the request with this token need not wait as
    // long.
    if let refused, !refused.text.hasSameBytes(as: new.text) { backoff.hurry() }
    token = new
    return new
  }

  /// The state is stored before the sink's call, without tokens, and again after the call, so that
  /// a crash repeats the call.
  private func change(to user: String?) async throws {
    state.beginChange()
    try save()
    try await sink.accountChanged(from: state.user, to: user)
    state.change(to: user)
    subscriptionWaits = SubscriptionWaits()
    courier.handledWake = 0
    try save()
  }

  /// Signs the user out: no push reaches this device for the user any more, and nothing of the user
  /// is kept. A running round stops before its next page, and earlier calls that wait for the
  /// relay end.
  ///
  /// From then on `credentials` should give nil, until a user signs in again.
  ///
  /// - Throws: the error of the relay or the sink. Even if the relay cannot be reached, the user is
  ///   signed out on this device. Pushes that still come for the user are ignored.
  public func signOut() async throws {
    try await perform(stopsOthers: true) { client in try await client.leaveRelay() }
  }

  private func leaveRelay() async throws {
    guard state.user != nil || state.isChanging else { return }
    // The user waits for the sign-out, so its one request is sent at once.
    backoff.pass()
    var failure: (any Error)?
    do {
      _ = try await ask(
        .device, "tokens/unregister", InstallationQuestion(clientId: installation.name),
        Ignored.self)
    } catch {
      failure = error
    }
    token = nil
    (courier.push, courier.url) = (nil, nil)
    try await change(to: nil)
    show(.signedOut)
    if let failure { throw failure }
  }
}

extension Lane {
  /// A poll or stream is open.
  ///
  /// - Parameter after: the newest wake that the device says it has received. All wakes up to
  ///   `after` are acknowledged; what later wakes told is told again.
  package mutating func connected(
    _ connection: UInt64, after: UInt32?, ledger: inout Ledger
  ) {
    reach.courier = .here(connection: connection)
    guard let after, after < nextWake else { return }
    acknowledged(wake: after, ledger: &ledger)
    reach.repeats = pending.subjects.contains { !$0.isUntold && $0.toldBy > after && names($0) }
  }

  /// The poll or stream ended. If another connection has replaced this connection, nothing changes.
  ///
  /// - Parameter isExpectedBack: whether the connection was a poll that was answered, so that the
  ///   next poll is expected.
  package mutating func left(
    _ connection: UInt64, isExpectedBack: Bool, at now: Instant, policy: WakePolicy
  ) {
    guard reach.courier == .here(connection: connection) else { return }
    reach.courier = isExpectedBack ? .between(until: now + policy.courierGrace) : .away
    reach.repeats = false
  }

  /// No connection took the courier's wake. If a newer connection is open, that connection is tried
  /// next.
  ///
  /// - Parameter connection: the connection over which the wake was sent; `nil` means that there
  ///   was none.
  mutating func notTaken(by connection: UInt64?) {
    if reach.connection == nil || reach.connection == connection { reach.courier = .away }
  }

  /// The device was registered, with or without an address at a provider.
  package mutating func registered(withProvider hasProvider: Bool) {
    reach.hasProvider = hasProvider
    guard !hasProvider else { return }
    endFallback()
    settleState()
  }

  /// The courier took a background wake. If the device has a provider, the fallback begins. A
  /// fallback that had already begun covers this wake too, and keeps its due time.
  mutating func courierTold(_ attempt: Attempt, at now: Instant, policy: WakePolicy) {
    guard reach.hasProvider else { return }
    // A re-wake repeats what all earlier wakes told, so the fallback covers those wakes, too.
    let first = attempt.isLadder ? 1 : attempt.wake
    fallback = PushFallback(
      first: min(fallback?.first ?? first, first), last: max(fallback?.last ?? 0, attempt.wake),
      until: fallback?.until ?? now + policy.courierGrace, deadline: attempt.deadline)
    settleFallback()
  }

  /// Ends the fallback when nothing is left that only the courier told.
  mutating func settleFallback() {
    guard let fallback, !pending.subjects.contains(where: { fallback.covers($0) }) else { return }
    self.fallback = nil
  }
}

extension Coordinator {
  /// What has happened outside since the turn before.
  package enum Input: Sendable {
    /// Facts that a caller submits together; answered with their answers in the same order.
    case request(RequestID, [Fact], by: Submitter)
    /// The group that was last to be appended is durable, or the store refused it whole.
    case appended(Result<Void, StoreError>)
    /// The cut that was last to be folded is durable, with the rows that the fold itself made; or
    /// the store refused it whole, or the trim.
    case folded(Result<[OutboxRow], StoreError>)
    /// So many rows were removed by the last trim.
    case trimmed(rows: Int)
    /// What became of a push.
    case verdict(PushAttempt, Verdict)
    /// A push that was recalled for the fact at this place cannot leave any more.
    case recalled(FactPlace)
    /// A device has read something, or has dealt with a wake. Losing one costs a repeated wake.
    case acknowledged(Acknowledged, DeviceKey)
    /// A poll or stream of the device opened at the courier. `after`: the newest wake that it got.
    case connected(DeviceKey, UInt64, after: UInt32?)
    /// It ended. A poll that was answered is expected back.
    case left(DeviceKey, UInt64, isExpectedBack: Bool)
    /// The configuration is another one.
    case reconfigured(Reconfiguration)
    /// The daemon shall stop: what is under way ends, and no slice of a wide change begins.
    case stop
  }

  /// What a reload changes. Bounds are fixed at the start.
  package struct Reconfiguration: Sendable {
    /// Of these the policy, the retention and the grace are taken over.
    package var settings: RelaySettings
    /// Routes that have a sender now, or another one than before.
    package var started: Set<RouteKey>
    /// Routes that have none any more. Their devices stay registered, and wait.
    package var ended: Set<RouteKey>

    package init(
      settings: RelaySettings, started: Set<RouteKey> = [], ended: Set<RouteKey> = []
    ) {
      (self.settings, self.started, self.ended) = (settings, started, ended)
    }
  }

  /// The machine's clocks, read at one moment.
  package struct Moment: Sendable {
    /// Milliseconds since 1970; may jump either way.
    package var wall: Instant
    /// Milliseconds since boot, sleep included; never goes back.
    package var boot: Instant

    package init(wall: Instant, boot: Instant) { (self.wall, self.boot) = (wall, boot) }
  }
}

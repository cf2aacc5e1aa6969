extension Coordinator {
  /// What has happened outside since the last turn.
  package enum Input: Sendable {
    /// Facts that a caller submits together. Their answers are given together, in the same order.
    case request(RequestID, [Fact], by: Submitter)
    /// The last appended group is durable, or the store refused all of it.
    case appended(Result<Void, StoreError>)
    /// The last cut is durable, with the rows that the fold itself made. Or the store refused all
    /// of the cut, or the trim.
    case folded(Result<[OutboxRow], StoreError>)
    /// The last trim removed this many rows.
    case trimmed(rows: Int)
    /// The verdict of a push.
    case verdict(PushAttempt, Verdict)
    /// A push that was recalled for the fact at this place can no longer leave.
    case recalled(FactPlace)
    /// A device has read something, or has handled a wake. A lost one costs a repeated wake.
    case acknowledged(Acknowledged, DeviceKey)
    /// A poll or stream of the device opened at the courier. `after`: the newest wake it received.
    case connected(DeviceKey, UInt64, after: UInt32?)
    /// The poll or stream ended. After an answered poll the device is expected back.
    case left(DeviceKey, UInt64, isExpectedBack: Bool)
    /// The configuration was reloaded.
    case reconfigured(Reconfiguration)
    /// The daemon must stop: work under way ends, and no slice of a wide change begins.
    case stop
  }

  /// What a reload changes. Bounds are fixed at the start.
  package struct Reconfiguration: Sendable {
    /// Only the policy, the retention and the grace are taken from it.
    package var settings: RelaySettings
    /// Routes that now have a sender, or another sender than before.
    package var started: Set<RouteKey>
    /// Routes that no longer have a sender. The devices of these routes stay registered, and wait.
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

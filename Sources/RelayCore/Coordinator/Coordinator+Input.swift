extension Coordinator {
  /// An event outside the coordinator since the last turn.
  package enum Input: Sendable {
    /// Facts that a caller submits together. Their answers are given together, in the same order.
    case request(RequestID, [Fact], by: Submitter)
    /// The last commit is durable, or the store refused the whole commit.
    case appended(Result<Void, StoreError>)
    /// The last cut is durable, and the fold itself made these outbox rows. A failure means that
    /// the store refused the whole cut. A refused trim is reported by this case, too.
    case folded(Result<[OutboxRow], StoreError>)
    /// The last trim removed this many rows.
    case trimmed(rows: Int)
    /// The verdict of a push.
    case verdict(PushAttempt, Verdict)
    /// A push that was recalled for the fact at this place has left, or can no longer leave.
    case recalled(FactPlace)
    /// A device has read a feed, or has handled a wake. If this input is lost, the relay at most
    /// repeats a wake.
    case acknowledged(Acknowledged, DeviceKey)
    /// A poll or stream of the device opened at the courier. `after` is the newest wake that the
    /// device has received.
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
    /// The coordinator takes only the policy, the retention, the trim interval and the grace of
    /// these settings.
    package var settings: RelaySettings
    /// Routes that now have a sender, or another sender than before.
    package var started: Set<RouteKey>
    /// Routes that no longer have a sender. The devices of these routes stay registered, and their
    /// lanes wait.
    package var ended: Set<RouteKey>

    package init(
      settings: RelaySettings, started: Set<RouteKey> = [], ended: Set<RouteKey> = []
    ) {
      (self.settings, self.started, self.ended) = (settings, started, ended)
    }
  }

  /// The machine's clocks, read at one moment.
  package struct Moment: Sendable {
    /// Milliseconds since 1970; may jump forwards or backwards.
    package var wall: Instant
    /// Milliseconds since boot, sleep included; never goes back.
    package var boot: Instant

    package init(wall: Instant, boot: Instant) { (self.wall, self.boot) = (wall, boot) }
  }
}

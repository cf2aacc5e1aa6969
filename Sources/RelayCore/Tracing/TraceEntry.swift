/// One thing that the relay decided or learnt, as the flight recorder keeps it. An entry holds
/// names and ids, and never a payload, a push token or the value of a field.
package struct TraceEntry: Hashable, Sendable {
  /// The relay's time. For a fact it is the time with which the fact was journalled, so that a
  /// replay makes the same entry again.
  package var at: Instant
  package var event: TraceEvent

  package init(at: Instant, _ event: TraceEvent) { (self.at, self.event) = (at, event) }
}

/// What an entry says. The cases are in the order of a change's journey.
package enum TraceEvent: Hashable, Sendable {
  /// A life of the daemon begins. The recorder makes this entry.
  case began
  /// Entries are missing here: this many, or an unknown number (`nil`). The recorder or the core
  /// makes this entry.
  case lost(Int?)
  /// A producer's change was stepped in its home. A change whose id is remembered makes no entry.
  case change(TracedChange)
  /// How far a change has come on its way to the users.
  case moved(TracedMove)
  /// A change fired a subscription of a user who has devices.
  case matched(TracedMatch)
  case device(DeviceKey, DeviceEvent)
  case user(Users.Key, UserEvent)
  case route(RouteKey, RouteEvent)
}

/// What happened to one device.
package enum DeviceEvent: Hashable, Sendable {
  /// The device was registered by the fact at this ordinal. `isNew` is false if the registration
  /// renewed an earlier one.
  case registered(Transport, topic: String, Ordinal, isNew: Bool)
  /// The fact at this ordinal removed the registration, and nothing pends any more.
  case unregistered(Ordinal)
  /// The device was retired for this reason, and nothing pends any more.
  case retired(String)
  /// The lane waits until this time. A lane that goes on waiting for the same reason makes no
  /// further entry.
  case waits(Lane.Wait, until: Instant)
  /// The device has no address at a provider, and is not connected to the courier.
  case waitsForConnection
  /// An attempt began.
  case wake(TracedWake)
  /// The attempt ended.
  case ended(TracedVerdict)
  /// The device proved what it has, while something pended or for the first time.
  case receipt(TracedReceipt)
  /// What pended for this subscription or zone is not told any more.
  case withdrawn(Withdrawal)
  /// The alert does not fit into a push, and pends as this part instead.
  case hushed(TracedAlert, TracedPart)
}

/// What happened to a user's subscriptions and shared zones, in the user's home partition.
package enum UserEvent: Hashable, Sendable {
  /// A subscription was saved by the fact at this ordinal; `before` is what it replaced.
  case subscribed(SubscriptionOutline, before: SubscriptionOutline?, Ordinal)
  case unsubscribed(SubscriptionOutline, Ordinal)
  /// Since the fact at this ordinal, the zone is shared with the user; `left` means that the zone
  /// is no longer shared with the user.
  case joined(ZoneID, Ordinal)
  case left(ZoneID, Ordinal)
}

/// What happened to a route.
package enum RouteEvent: Hashable, Sendable {
  /// The circuit opened for this reason.
  case stopped(String)
  case resumed
  /// The route has no provider any more, because a reload removed the provider.
  case withdrawn
  /// The route has a provider again, or another one.
  case renewed
  /// Devices that the provider reports as dead rest in quarantine until this time; `nil` means that
  /// the quarantine is over.
  case quarantine(until: Instant?)
}

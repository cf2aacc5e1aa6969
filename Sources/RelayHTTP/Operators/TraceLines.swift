import RelayCore
import RelayEngine
import RelayWire

/// Entries of the flight recorder as operators see them.
extension TraceLine {
  /// - Parameter keys: makes the ids of pushes from their devices and wakes.
  init(_ entry: TraceEntry, keys: any PushKeys) {
    self.init(at: entry.at.milliseconds, event: "")
    switch entry.event {
    case .began: event = "began"
    case .lost(let lost): (event, count) = ("lost", lost)
    case .change(let change): describe(change)
    case .moved(let move): describe(move)
    case .matched(let match): describe(match)
    case .device(let key, let event):
      name(key.scope)
      (user, clientId) = (key.user.name, key.client.text)
      describe(event, of: key, keys)
    case .user(let key, let event):
      name(key.scope)
      user = key.user.name
      describe(event)
    case .route(let key, let event):
      name(key.scope)
      route = RouteName(transport: key.transport.name, topic: key.topic)
      describe(event)
    }
  }

  private mutating func name(_ scope: Scope) {
    (container, environment) = (scope.container, scope.environment.name)
  }

  private mutating func name(_ zone: ZoneID, _ seen: Database? = nil) {
    zoneID = ZoneName(zoneName: zone.name, ownerRecordName: zone.owner.name)
    database = seen?.name
  }

  private mutating func describe(_ change: TracedChange) {
    event = "change"
    name(change.scope)
    name(change.zone, change.database)
    notificationID = change.notification.text
    kind = change.event.name
    (user, clientId) = (change.author?.user.name, change.author?.client?.text)
    if change.isSuperseded { reason = "superseded" }
    switch change.event {
    case .record(let changed):
      record = RecordName(recordName: changed.name, recordType: changed.type)
    case .granted(let participant), .revoked(let participant): names = [participant.name]
    case .zone: break
    }
  }

  private mutating func describe(_ move: TracedMove) {
    name(move.scope)
    notificationID = move.notification.text
    switch move.step {
    case .forwarded(let partitions): (event, count) = ("forwarded", partitions.count)
    case .reached: event = "reached"
    case .spreading: event = "spreading"
    case .spread: event = "spread"
    }
  }

  private mutating func describe(_ match: TracedMatch) {
    event = "matched"
    name(match.user.scope)
    name(match.zone, match.database)
    user = match.user.user.name
    (notificationID, subscriptionID) = (match.notification.text, match.subscription.name)
    devices = match.devices.map { device in
      var line = MatchedDevice(clientId: device.client.text, outcome: "")
      switch device.outcome {
      case .own: line.outcome = "own"
      case .retired: line.outcome = "retired"
      case .pends(let part, let gathers, let instead):
        line.outcome = part.kind
        line.until = gathers?.milliseconds
        if let older = instead.crowdedOut ?? instead.replaced {
          line.instead = older.notification.text
          line.insteadSubscriptionID = older.subscription.name
          line.insteadKind = instead.crowdedOut == nil ? "replaces" : "crowds_out"
        }
      }
      return line
    }
  }

  private mutating func describe(
    _ event: DeviceEvent, of key: DeviceKey, _ keys: any PushKeys
  ) {
    switch event {
    case .registered(let transport, let topic, _, let isNew):
      self.event = "registered"
      kind = isNew ? "new" : "again"
      route = RouteName(transport: transport.name, topic: topic)
    case .unregistered: self.event = "unregistered"
    case .retired(let why): (self.event, reason) = ("retired", why)
    case .waits(let wait, let time):
      (self.event, kind, until) = ("waits", wait.name, time.milliseconds)
    case .waitsForConnection: (self.event, kind) = ("waits", "connection")
    case .wake(let wake):
      describe(wake)
      apnsID = keys.pushID(device: key, wake: wake.number).text
    case .ended(let end): describe(end)
    case .receipt(let receipt): describe(receipt)
    case .withdrawn(.subscription(let id, let database)):
      (self.event, kind, subscriptionID) = ("withdrawn", "subscription", id.name)
      self.database = database.name
    case .withdrawn(.zone(let zone, let database)):
      (self.event, kind) = ("withdrawn", "zone")
      name(zone, database)
    case .hushed(let alert, _):
      (self.event, notificationID) = ("hushed", alert.notification.text)
      subscriptionID = alert.subscription.name
    }
  }

  private mutating func describe(_ wake: TracedWake) {
    event = "wake"
    w = wake.number
    route = RouteName(transport: wake.transport.name, topic: wake.topic)
    kind = wake.alertOf == nil ? "background" : "alert"
    subscriptionID = wake.alertOf?.name
    reason = wake.cause.name
    notificationID = wake.shows.text
    names = wake.names.map(\.text)
    count = wake.tries
  }

  private mutating func describe(_ end: TracedVerdict) {
    event = "ended"
    w = end.wake
    until = end.rests?.milliseconds
    (kind, reason) = end.verdict.words
    if end.dropsAlert { names = ["alert dropped"] }
  }

  private mutating func describe(_ receipt: TracedReceipt) {
    event = "acknowledged"
    kind = receipt.kind
    switch receipt {
    case .acknowledged(.notifications): break
    case .acknowledged(.zone(let zone, let database, _, _)): name(zone, database)
    case .acknowledged(.listed(let zones, let database)):
      self.database = database.name
      names = zones.map(\.text)
    case .acknowledged(.wake(let number)), .connected(let number): w = number
    case .marked(let notifications): names = notifications.map(\.text)
    }
  }

  private mutating func describe(_ event: UserEvent) {
    switch event {
    case .subscribed(let now, let before, _):
      (self.event, kind) = ("subscribed", before == nil ? "new" : "changed")
      (subscriptionID, database) = (now.id.name, now.database.name)
    case .unsubscribed(let old, _):
      (self.event, subscriptionID, database) = ("unsubscribed", old.id.name, old.database.name)
    case .joined(let zone, _):
      self.event = "joined"
      name(zone)
    case .left(let zone, _):
      self.event = "left"
      name(zone)
    }
  }

  private mutating func describe(_ event: RouteEvent) {
    self.event = "route"
    switch event {
    case .stopped(let why): (kind, reason) = ("stopped", why)
    case .resumed: kind = "resumed"
    case .withdrawn: kind = "withdrawn"
    case .renewed: kind = "renewed"
    case .quarantine(let time):
      (kind, until) = (time == nil ? "quarantine over" : "quarantine", time?.milliseconds)
    }
  }
}

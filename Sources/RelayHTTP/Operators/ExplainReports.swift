import RelayCore
import RelayEngine
import RelayWire

/// Explanations as operators see them.
extension ExplainReport.ExplainedDevice {
  init(_ found: Explanation, _ keys: any PushKeys) {
    self.init(
      clientId: found.device.client.text, user: found.device.user.name,
      container: found.device.scope.container,
      environment: found.device.scope.environment.name,
      result: ExplainReport.Result(found.outcome, of: found.device, keys),
      deliveries: found.deliveries.map { delivery in
        var line = ExplainReport.Delivery(
          subscriptionID: delivery.subscription.name,
          result: ExplainReport.Result(delivery.outcome, of: found.device, keys))
        line.toldAt = delivery.told?.milliseconds
        line.acknowledged = delivery.receipt?.kind
        line.acknowledgedAt = delivery.receiptAt?.milliseconds
        return line
      },
      story: found.story.map { TraceLine($0, keys: keys) })
  }
}

extension ExplainReport.Result {
  init(_ outcome: Explanation.Outcome, of device: DeviceKey, _ keys: any PushKeys) {
    switch outcome {
    case .woken(let wake):
      self.init(outcome: "woken")
      (w, apnsID) = (wake, keys.pushID(device: device, wake: wake).text)
    case .not(let why):
      self.init(outcome: "not_woken")
      reason = ExplainReport.Reason(why)
    case .unknown: self.init(outcome: "unknown")
    }
  }
}

extension ExplainReport.Reason {
  init(_ reason: Explanation.Reason) {
    self.init(code: reason.code)
    switch reason {
    case .unregistered(let ended): at = ended?.milliseconds
    case .filterNotMet(let subscription): detail = subscription.name
    case .gathering(let time), .paced(let time), .betweenPolls(let time):
      until = time.milliseconds
    case .budget(let time, let isAlert):
      (until, detail) = (time.milliseconds, isAlert ? "alert" : "background")
    case .resting(let time, let why), .quarantined(let time, let why):
      (until, detail) = (time.milliseconds, why)
    case .routeStopped(let why), .rejected(let why), .retired(let why): detail = why
    case .underWay(let wake), .toldByCourier(let wake), .alreadyTold(let wake): w = wake
    case .fetched(let time), .withdrawn(let time): at = time.milliseconds
    case .noEffect, .otherUser, .zoneNotVisible, .onItsWay, .noSubscription, .ownChange,
      .notFolded, .noProvider, .queued, .notConnected, .stopping, .crowdedOut:
      break
    }
  }
}

extension ExplainReport.DeviceStanding {
  init(_ standing: Standing) {
    self.init(
      clientId: standing.device.client.text, user: standing.device.user.name,
      container: standing.device.scope.container,
      environment: standing.device.scope.environment.name,
      isRegistered: standing.registration != nil,
      waiting: standing.pending.map { part in
        ExplainReport.Waiting(
          what: part.part.text, reason: part.reason.map { ExplainReport.Reason($0) })
      })
    guard let registration = standing.registration else { return }
    route = TraceLine.RouteName(
      transport: registration.transport.name, topic: registration.topic)
    registeredAt = registration.at.milliseconds
    retired = registration.retirement?.reason
  }
}

import Foundation

/// A request of the doctor's device, or of the producer whose key it has.
enum WalkRequest: Hashable, Sendable {
  case register
  case subscribe
  case post
  /// Holds a poll at the courier until there is a wake.
  case poll
  case fetch
  case acknowledge(wake: Int)
  /// Asks the control socket whether something still pends for the device.
  case confirm
  case endZone
  case unsubscribe
  case unregister
  /// Lists the devices that doctors have in the relay.
  case list
}

extension WalkNames {
  /// The JSON of a request's body; nil for a request without one.
  func body(of request: WalkRequest, environment: String) -> Any? {
    let zoneID = ["zoneName": zone, "ownerRecordName": user]
    switch request {
    case .register: return ["apnsEnvironment": environment, "clientId": client]
    case .subscribe:
      let made: [String: Any] = [
        "subscriptionID": subscription, "subscriptionType": "zone", "zoneID": zoneID,
        "notificationInfo": ["shouldSendContentAvailable": true],
      ]
      return ["operations": [["operationType": "create", "subscription": made]]]
    case .unsubscribe:
      return [
        "operations": [
          ["operationType": "delete", "subscription": ["subscriptionID": subscription]]
        ]
      ]
    case .post:
      let record = [
        "recordName": record, "recordType": "Doctor", "recordChangeTag": "1",
      ]
      return [event("record.created", ["database": "private", "zoneID": zoneID, "record": record])]
    case .endZone: return [event("zone.deleted", ["database": "private", "zoneID": zoneID])]
    case .fetch: return ["zones": [["zoneID": zoneID]]]
    case .acknowledge(let wake): return ["clientId": client, "w": wake]
    case .unregister: return ["clientId": client]
    case .list: return [:] as [String: String]
    case .poll, .confirm: return nil
    }
  }

  private func event(_ type: String, _ data: [String: Any]) -> [String: Any] {
    [
      "specversion": "1.0", "id": "\(client) \(type)", "source": Self.source,
      "type": "zonerelay.\(type)", "data": data,
    ]
  }
}

import Foundation
import RelayCore

/// A request of the doctor's device, or of the producer whose key the doctor has.
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
  /// Where a request of the device or of the producer goes, with the JSON of its body. The result
  /// is nil if the request has no body.
  ///
  /// - Parameter query: names the device.
  func call(_ request: WalkRequest, in scope: Scope, query: String) -> (target: String, body: Any)?
  {
    let place = "\(scope.container)/\(scope.environment.name)"
    let (device, database) = ("/device/1/\(place)", "/database/1/\(place)/private")
    let zoneID = ["zoneName": zone, "ownerRecordName": user]
    switch request {
    case .register:
      let body = ["apnsEnvironment": scope.environment.name, "clientId": client]
      return ("\(device)/tokens/create?\(query)", body)
    case .subscribe:
      let made: [String: Any] = [
        "subscriptionID": subscription, "subscriptionType": "zone", "zoneID": zoneID,
        "notificationInfo": ["shouldSendContentAvailable": true],
      ]
      let operation: [String: Any] = ["operationType": "create", "subscription": made]
      return ("\(database)/subscriptions/modify?\(query)", ["operations": [operation]])
    case .unsubscribe:
      let gone = ["subscriptionID": subscription]
      let operation: [String: Any] = ["operationType": "delete", "subscription": gone]
      return ("\(database)/subscriptions/modify?\(query)", ["operations": [operation]])
    case .post:
      let record = ["recordName": record, "recordType": "Doctor", "recordChangeTag": "1"]
      let data: [String: Any] = ["database": "private", "zoneID": zoneID, "record": record]
      return ("/events/1/\(place)", [event("record.created", data)])
    case .endZone:
      let data: [String: Any] = ["database": "private", "zoneID": zoneID]
      return ("/events/1/\(place)", [event("zone.deleted", data)])
    case .fetch: return ("\(database)/changes/zone?\(query)", ["zones": [["zoneID": zoneID]]])
    case .acknowledge(let wake):
      let body: [String: Any] = ["clientId": client, "w": wake]
      return ("\(device)/wakes/acknowledge?\(query)", body)
    case .unregister: return ("\(device)/tokens/unregister?\(query)", ["clientId": client])
    case .list: return ("\(device)/tokens/list?\(query)", [:] as [String: String])
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

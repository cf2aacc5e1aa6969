/// One entry of the flight recorder: a line of the answer to `GET /tail`, or a part of the answer
/// to `GET /explain`. Members that do not apply are absent. Times are milliseconds since 1970.
package struct TraceLine: Codable, Hashable, Sendable {
  package var at: Int64
  /// What happened: `change`, `forwarded`, `reached`, `spreading`, `spread`, `matched`,
  /// `registered`, `unregistered`, `retired`, `waits`, `wake`, `ended`, `acknowledged`,
  /// `withdrawn`, `hushed`, `subscribed`, `unsubscribed`, `joined`, `left`, `route`, `began`,
  /// `lost`; in a tail also `missed`.
  package var event: String
  package var container: String?
  package var environment: String?
  package var user: String?
  package var clientId: String?
  package var database: String?
  package var zoneID: ZoneName?
  package var record: RecordName?
  /// The `nid` of the change's notifications.
  package var notificationID: String?
  package var subscriptionID: String?
  /// A closer description of the event, from a closed list for each event.
  package var kind: String?
  /// The wake's number.
  package var w: UInt32?
  package var apnsID: String?
  package var route: RouteName?
  package var until: Int64?
  /// Why this happened: a provider's reason, or the relay's own.
  package var reason: String?
  /// The number of partitions, of tries, or of entries that are lost or missed.
  package var count: Int?
  /// The parts that a wake names, the participant of a share, the zones that a page listed, or the
  /// notifications that were marked as read; `alert dropped` if no later wake shows the alert of
  /// the ended attempt.
  package var names: [String]?
  /// What a match meant for each device.
  package var devices: [MatchedDevice]?

  package init(at: Int64, event: String) { (self.at, self.event) = (at, event) }

  package struct ZoneName: Codable, Hashable, Sendable {
    package var zoneName: String
    package var ownerRecordName: String

    package init(zoneName: String, ownerRecordName: String) {
      (self.zoneName, self.ownerRecordName) = (zoneName, ownerRecordName)
    }
  }

  package struct RecordName: Codable, Hashable, Sendable {
    package var recordName: String
    package var recordType: String

    package init(recordName: String, recordType: String) {
      (self.recordName, self.recordType) = (recordName, recordType)
    }
  }

  package struct RouteName: Codable, Hashable, Sendable {
    package var transport: String
    package var topic: String

    package init(transport: String, topic: String) {
      (self.transport, self.topic) = (transport, topic)
    }
  }

  package struct MatchedDevice: Codable, Hashable, Sendable {
    package var clientId: String
    /// `own`, `retired`, or how the notification pends: `zone`, `query`, `alert`, or `many` (for a
    /// zone beyond the limit of zones that a lane names).
    package var outcome: String
    /// Until when further changes gather.
    package var until: Int64?
    /// The notification and the subscription of an older alert that will not be shown, because the
    /// matched notification's alert takes its place. `insteadKind` says how: the new alert
    /// `replaces` the older alert or `crowds_out` it. If the new alert replaces one alert and
    /// crowds out another, these three fields are about the alert that it crowds out.
    package var instead: String?
    package var insteadSubscriptionID: String?
    package var insteadKind: String?

    package init(clientId: String, outcome: String) {
      (self.clientId, self.outcome) = (clientId, outcome)
    }
  }
}

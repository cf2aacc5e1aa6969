@testable import RelayCore

/// A suite about one route and numbered pushes.
protocol RouteSuite {}

extension RouteSuite {
  func route(_ room: Int = 2) -> Route {
    Route(inFlightMax: room, probe: .seconds(30))
  }

  func id(_ device: Int) -> PushAttempt.ID {
    PushAttempt.ID(partition: PartitionID(1), device: device, serial: UInt64(device))
  }

  func about(_ user: Int) -> Pruning.Subject {
    Pruning.Subject(
      user: UserID("_\(user)"), client: ClientID(Identifier(high: 0, low: UInt64(user))),
      hasTaken: true)
  }
}

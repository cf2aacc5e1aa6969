import RelayEngine
import RelayHTTP
import RelaySystem

extension OwnProcess {
  /// With the connections that its API holds.
  static func health(with connections: Connections) -> ProcessUsage {
    var health = health()
    health.apiConnections = connections.count
    return health
  }
}

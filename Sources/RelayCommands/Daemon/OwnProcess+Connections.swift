import RelayEngine
import RelayHTTP
import RelaySystem

extension OwnProcess {
  /// With the connections that its API holds.
  static func vitals(with connections: Connections) -> ProcessVitals {
    var vitals = vitals()
    vitals.apiConnections = connections.count
    return vitals
  }
}

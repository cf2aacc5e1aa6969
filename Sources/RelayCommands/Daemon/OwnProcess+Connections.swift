import RelayEngine
import RelayHTTP
import RelaySystem

extension OwnProcess {
  /// With the connections that its API holds.
  static func usage(with connections: Connections) -> ProcessUsage {
    var usage = usage()
    usage.apiConnections = connections.count
    return usage
  }
}

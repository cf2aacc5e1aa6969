import RelayEngine
import RelayHTTP
import RelaySystem

extension OwnProcess {
  /// The process's usage, with the number of the API's connections.
  static func usage(with connections: Connections) -> ProcessUsage {
    var usage = usage()
    usage.apiConnections = connections.count
    return usage
  }
}

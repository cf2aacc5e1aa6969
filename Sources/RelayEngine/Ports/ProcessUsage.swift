/// What the daemon takes of its machine, as the operators' metrics show it.
package struct ProcessUsage: Hashable, Sendable {
  /// Open descriptors: files, sockets, connections. Beyond `openFilesMax` none can be opened.
  package var openFiles = 0
  package var openFilesMax = 0
  package var residentBytes: Int64 = 0
  /// User and system, all threads, since start.
  package var cpuSeconds: Double = 0
  /// Connections at the API's listener.
  package var apiConnections = 0

  package init() {}
}

/// The machine's resources that the daemon uses, as the operators' metrics show them.
package struct ProcessUsage: Hashable, Sendable {
  /// Open descriptors: files, sockets, connections. The system opens no more than `openFilesMax`
  /// descriptors.
  package var openFiles = 0
  package var openFilesMax = 0
  package var residentBytes: Int64 = 0
  /// User and system time of all threads, since the start.
  package var cpuSeconds: Double = 0
  /// Open connections of the API's listener.
  package var apiConnections = 0

  package init() {}
}

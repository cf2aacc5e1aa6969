/// The exit status of a command; a documented contract.
package enum ExitStatus: Int32, Sendable {
  case done = 0
  /// Any other failure, such as an unhealthy daemon, an unknown device, a store in use or a taken
  /// port.
  case failed = 1
  /// No daemon answers on the control socket.
  case notRunning = 3
  /// Wrong usage (`EX_USAGE`).
  case usage = 64
  /// Bad configuration (`EX_CONFIG`).
  case badConfiguration = 78
}

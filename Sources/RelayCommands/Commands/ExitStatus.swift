/// How a command ends; a documented contract.
package enum ExitStatus: Int32, Sendable {
  case done = 0
  /// Anything without a number of its own: unhealthy, unknown, store in use, port taken.
  case failed = 1
  /// No daemon answers on the control socket.
  case notRunning = 3
  /// Wrong usage (`EX_USAGE`).
  case usage = 64
  /// Bad configuration (`EX_CONFIG`).
  case badConfiguration = 78
}

import Glibc

/// How many files and connections together the process may have open.
package enum FileLimit {
  /// The hard limit, up to which the soft limit may be raised; 0 if it is unknown.
  package static var most: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    return Int(clamping: limit.rlim_max)
  }

  /// Raises the soft limit to the hard limit, because each of fifty thousand courier connections
  /// needs a descriptor.
  ///
  /// - Returns: how many files may be open from now on.
  @discardableResult
  package static func raise() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    var raised = limit
    raised.rlim_cur = raised.rlim_max
    // A sandbox may refuse the raised limit; the limit then stays as it was.
    if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
    return Int(clamping: limit.rlim_cur)
  }
}

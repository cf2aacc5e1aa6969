import Glibc

/// How many files and connections together the process may have open.
package enum FileLimit {
  /// The hard limit, up to which the soft limit may be raised; 0 if it is unknown.
  package static var most: Int { Int(clamping: current?.rlim_max ?? 0) }

  /// The soft and the hard limit; nil if they are unknown.
  static var current: rlimit? {
    var limit = rlimit()
    return getrlimit(resource, &limit) == 0 ? limit : nil
  }

  private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

  /// Raises the soft limit to the hard limit, because each of fifty thousand courier connections
  /// needs a descriptor.
  ///
  /// - Returns: how many files may be open from now on.
  @discardableResult
  package static func raise() -> Int {
    guard let limit = current else { return 0 }
    var raised = limit
    raised.rlim_cur = raised.rlim_max
    // A sandbox may refuse the raised limit; the limit then stays as it was.
    return Int(clamping: setrlimit(resource, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur)
  }
}

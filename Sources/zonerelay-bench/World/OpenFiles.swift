import Foundation

/// How many files this process and its children may open.
enum OpenFiles {
  /// Raises the soft limit as far as possible, and the hard limit if permitted. Returns the new
  /// soft limit.
  static func raise() throws -> Int {
    var limit = rlimit()
    let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(files, &limit) == 0 else { throw BenchError("the limit of files is unknown") }
    var wanted = rlimit(rlim_cur: 65_536, rlim_max: max(65_536, limit.rlim_max))
    if limit.rlim_max >= 65_536 { wanted.rlim_cur = limit.rlim_max }
    if setrlimit(files, &wanted) == 0 { return Int(clamping: wanted.rlim_cur) }
    // Without root the process can raise the soft limit only to the hard limit.
    limit.rlim_cur = limit.rlim_max
    guard setrlimit(files, &limit) == 0 else {
      throw BenchError("the limit of files stays as it is")
    }
    return Int(clamping: limit.rlim_cur)
  }

  /// How many files, sockets included, a program has open now.
  static func count(of child: Child) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(child.pid)/fd").count
  }
}

import Foundation
import Glibc
package import RelayEngine

/// This process's use of resources, as the kernel counts it (see `proc(5)`).
package enum OwnProcess {
  /// - Returns: the figures that can be read now. A figure that cannot be read, as in a sandbox
  ///   without /proc, is 0.
  package static func usage(apiConnections: Int = 0) -> ProcessUsage {
    var health = ProcessUsage()
    health.apiConnections = apiConnections
    health.openFiles = openFiles()
    if let limit = FileLimit.current { health.openFilesMax = Int(clamping: limit.rlim_cur) }
    health.residentBytes = residentBytes()
    var usage = rusage()
    if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
      health.cpuSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
    return health
  }

  private static func openFiles() -> Int {
    guard let directory = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    // Excludes the entries `.` and `..` and the descriptor that reads the directory.
    return max(0, count - 3)
  }

  /// Reads the second number of `statm`, the resident pages.
  private static func residentBytes() -> Int64 {
    // If the file is unreadable the result is 0, as `usage` documents.
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
      return 0
    }
    let numbers = text.split(separator: " ")
    guard numbers.count > 1, let pages = Int64(numbers[1]) else { return 0 }
    return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
  }

  private static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
  }
}

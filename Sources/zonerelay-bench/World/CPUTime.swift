import Foundation

/// CPU time of a process: user and system time of all its threads.
struct CPUTime: Sendable {
  var nanoseconds: Int64

  init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  init(_ usage: rusage) {
    let seconds = Int64(usage.ru_utime.tv_sec) + Int64(usage.ru_stime.tv_sec)
    let microseconds = Int64(usage.ru_utime.tv_usec) + Int64(usage.ru_stime.tv_usec)
    nanoseconds = seconds * 1_000_000_000 + microseconds * 1_000
  }

  /// CPU time of a running process, from the kernel's clock, which is finer than the ticks of
  /// `/proc`.
  static func of(_ pid: pid_t) throws -> CPUTime {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else {
      throw BenchError("the CPU time of process \(pid) cannot be read: it has ended")
    }
    return CPUTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  static func ofThisProcess() throws -> CPUTime { try of(getpid()) }

  static func - (left: CPUTime, right: CPUTime) -> CPUTime {
    CPUTime(nanoseconds: left.nanoseconds - right.nanoseconds)
  }

  /// The microseconds of one operation, if `count` operations took this CPU time.
  func each(of count: Int) -> Double { Double(nanoseconds) / 1_000 / Double(count) }
}

extension Duration {
  var inSeconds: Double { self / .seconds(1) }
}

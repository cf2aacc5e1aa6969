import Glibc
package import RelayCore
import RelayEngine

/// The kernel's clocks.
package struct SystemClock: ClockReader {
  package init() {}

  /// CLOCK_REALTIME: milliseconds since 1970; jumps when the machine's clock is set.
  package func wall() -> Instant { Self.read(CLOCK_REALTIME) }

  /// CLOCK_BOOTTIME: milliseconds since boot, sleep included; never goes back.
  package func boot() -> Instant { Self.read(CLOCK_BOOTTIME) }

  private static func read(_ clock: clockid_t) -> Instant {
    var time = timespec()
    let result = clock_gettime(clock, &time)
    precondition(result == 0, "the kernel does not know clock \(clock)")
    return Instant(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }
}

import NIOCore
package import RelayCore

/// A moment on the machine's monotonic clock, in milliseconds. Unlike `Instant` it has no date and
/// does not change when the clock is set, so the engines measure deadlines and silence with it.
package struct Uptime: Hashable, Comparable, Sendable {
  package var milliseconds: Int64

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The present moment, rounded up to whole milliseconds. A deadline may end up to a millisecond
  /// early or late.
  package static var now: Uptime {
    Uptime(milliseconds: Int64((NIODeadline.now().uptimeNanoseconds + 999_999) / 1_000_000))
  }

  var deadline: NIODeadline {
    let capped = max(0, min(milliseconds, Int64.max / 1_000_000))
    return .uptimeNanoseconds(UInt64(capped) * 1_000_000)
  }

  package static func < (left: Uptime, right: Uptime) -> Bool {
    left.milliseconds < right.milliseconds
  }

  package static func + (left: Uptime, right: Span) -> Uptime {
    let (sum, overflow) = left.milliseconds.addingReportingOverflow(right.milliseconds)
    return Uptime(milliseconds: overflow ? .max : sum)
  }

  package static func - (left: Uptime, right: Span) -> Uptime {
    Uptime(milliseconds: left.milliseconds - right.milliseconds)
  }

  package static func - (left: Uptime, right: Uptime) -> Span {
    Span(milliseconds: left.milliseconds - right.milliseconds)
  }
}

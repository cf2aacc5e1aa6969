/// A moment in milliseconds since 1970, by the relay's own clock.
///
/// This clock never goes back within a life of the store (see `RelayClock`). The core cannot read a
/// clock: it receives every instant as an argument.
package struct Instant: Hashable, Comparable, Sendable {
  package var milliseconds: Int64

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  package static let zero = Instant(milliseconds: 0)
  package static let never = Instant(milliseconds: .max)

  package static func < (left: Instant, right: Instant) -> Bool {
    left.milliseconds < right.milliseconds
  }

  package static func + (left: Instant, right: Span) -> Instant {
    let (sum, overflow) = left.milliseconds.addingReportingOverflow(right.milliseconds)
    return overflow ? .never : Instant(milliseconds: sum)
  }

  package static func - (left: Instant, right: Instant) -> Span {
    Span(milliseconds: left.milliseconds - right.milliseconds)
  }

  package static func - (left: Instant, right: Span) -> Instant {
    Instant(milliseconds: left.milliseconds - right.milliseconds)
  }
}

/// A length of time in milliseconds, the core's only unit of time.
package struct Span: Hashable, Comparable, Sendable, CustomStringConvertible {
  package var milliseconds: Int64
  package var description: String { "\(milliseconds) ms" }

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  package static let zero = Span(milliseconds: 0)
  package static func seconds(_ count: Int64) -> Span { Span(milliseconds: count * 1_000) }
  package static func minutes(_ count: Int64) -> Span { .seconds(count * 60) }
  package static func hours(_ count: Int64) -> Span { .minutes(count * 60) }
  package static func days(_ count: Int64) -> Span { .hours(count * 24) }

  package static func < (left: Span, right: Span) -> Bool {
    left.milliseconds < right.milliseconds
  }

  package static func + (left: Span, right: Span) -> Span {
    Span(milliseconds: left.milliseconds + right.milliseconds)
  }

  package static func * (left: Span, right: Int64) -> Span {
    let (product, overflow) = left.milliseconds.multipliedReportingOverflow(by: right)
    return Span(milliseconds: overflow ? .max : product)
  }
}

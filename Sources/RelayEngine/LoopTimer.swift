import Dispatch
import RelayCore
import Synchronization

/// Wakes the loop at an instant, or earlier: the loop sets it at each turn, mostly to a later
/// instant, and to wake a thread of Dispatch's each time would cost more than to be woken in vain.
///
/// Unchecked: a dispatch source is thread-safe by Dispatch's own contract; the Swift overlay only
/// does not say so. It is never replaced.
final class LoopTimer: @unchecked Sendable {
  private let timer: any DispatchSourceTimer
  private let next: Next

  /// When it rings, in nanoseconds of Dispatch's clock; 0: when it is set again.
  private final class Next: Sendable {
    let instant = Atomic<UInt64>(0)
  }

  init(_ fire: @escaping @Sendable () -> Void) {
    let next = Next()
    self.next = next
    timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "zonerelay.loop-timer"))
    timer.setEventHandler {
      next.instant.store(0, ordering: .releasing)
      fire()
    }
    timer.activate()
  }

  /// Rings in `span` at the latest. Where it rings earlier, because that was asked for before, it
  /// must be set again.
  func set(in span: Span) {
    let deadline = DispatchTime.now() + .milliseconds(Int(clamping: max(0, span.milliseconds)))
    let known = next.instant.load(ordering: .acquiring)
    guard known == 0 || deadline.uptimeNanoseconds < known else { return }
    next.instant.store(deadline.uptimeNanoseconds, ordering: .releasing)
    timer.schedule(deadline: deadline, leeway: .milliseconds(1))
  }

  func cancel() { timer.cancel() }
}

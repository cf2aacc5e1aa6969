import Dispatch
import RelayCore
import Synchronization

/// Wakes the loop at an instant or earlier. The loop sets the timer at each turn, mostly to a later
/// instant; waking a Dispatch thread each time would cost more than a needless early wake of the
/// loop.
///
/// `Sendable` is unchecked, because Dispatch documents its sources as thread-safe, but the Swift
/// overlay does not declare them so. `timer` is never replaced.
final class LoopTimer: @unchecked Sendable {
  private let timer: any DispatchSourceTimer
  private let next: Next

  /// When the timer fires next, in nanoseconds of Dispatch's clock; 0 means that the timer is not
  /// set.
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

  /// Fires within `span`. The timer may fire earlier, because of an earlier call; the caller must
  /// then set it again.
  func set(in span: Span) {
    let deadline = DispatchTime.now() + .milliseconds(Int(clamping: max(0, span.milliseconds)))
    let known = next.instant.load(ordering: .acquiring)
    guard known == 0 || deadline.uptimeNanoseconds < known else { return }
    next.instant.store(deadline.uptimeNanoseconds, ordering: .releasing)
    timer.schedule(deadline: deadline, leeway: .milliseconds(1))
  }

  func cancel() { timer.cancel() }
}

import Dispatch
import RelayCore

/// Wakes the loop at an instant. Setting it anew forgets the one before.
///
/// Unchecked: a dispatch source is thread-safe by Dispatch's own contract; the Swift overlay only
/// does not say so. It is never replaced.
final class Alarm: @unchecked Sendable {
  private let timer: any DispatchSourceTimer

  init(_ ring: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "zonerelay.alarm")
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler(handler: ring)
    timer.activate()
  }

  func set(in span: Span) {
    timer.schedule(
      deadline: .now() + .milliseconds(Int(clamping: max(0, span.milliseconds))),
      leeway: .milliseconds(1))
  }

  func cancel() { timer.cancel() }
}

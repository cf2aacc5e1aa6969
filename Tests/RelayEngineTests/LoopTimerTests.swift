import RelayCore
import Testing

@testable import RelayEngine

@Suite("The timer of the loop") struct LoopTimerTests {
  @Test(.timeLimit(.minutes(1)))
  func `an earlier instant replaces a later one`() async {
    let rings = Rings()
    rings.timer.set(in: .seconds(3_600))
    rings.timer.set(in: Span(milliseconds: 20))
    #expect(await rings.next())
  }

  @Test(.timeLimit(.minutes(1)))
  func `a later instant does not replace an earlier one`() async {
    let rings = Rings()
    rings.timer.set(in: Span(milliseconds: 20))
    rings.timer.set(in: .seconds(3_600))
    #expect(await rings.next())
    rings.timer.set(in: .seconds(3_600))
    rings.timer.set(in: Span(milliseconds: 20))
    #expect(await rings.next())
  }

  @Test(.timeLimit(.minutes(1)))
  func `the timer rings at once each time it is set to a past instant`() async {
    let rings = Rings()
    for _ in 0..<3 {
      rings.timer.set(in: Span(milliseconds: -5))
      #expect(await rings.next())
    }
  }
}

/// A timer, and a stream that gets one element each time the timer fires.
private final class Rings: Sendable {
  let timer: LoopTimer
  private let heard: AsyncStream<Void>

  init() {
    let (heard, bell) = AsyncStream.makeStream(of: Void.self)
    self.heard = heard
    timer = LoopTimer { bell.yield() }
  }

  deinit { timer.cancel() }

  func next() async -> Bool {
    for await _ in heard { return true }
    return false
  }
}

import RelayCore
import Testing

/// When feedback goes to a webhook, step by step.
@Suite struct FeedbackSendingTests {
  private var sending = FeedbackSending()

  private func s(_ seconds: Double) -> Instant { .s(seconds) }

  @Test mutating func `the sender looks for feedback at start and when feedback is added`() {
    expect(0, .deliver)
    expect(0, .nothing)
    end(.empty, 0)
    expect(1, .nothing)
    sending.feedbackAdded()
    expect(1, .deliver)
    end(.taken(hasMore: true), 2)
    expect(2, .deliver)
    end(.taken(hasMore: false), 3)
    expect(3, .nothing)
  }

  @Test mutating func `feedback added during a send is sent afterwards`() {
    for outcome in [FeedbackSending.Outcome.empty, .taken(hasMore: false)] {
      expect(0, .deliver)
      sending.feedbackAdded()
      end(outcome, 0)
    }
    expect(0, .deliver)
  }

  @Test mutating func `the pause after each failure doubles up to five minutes`() {
    var rests: [Int64] = []
    var now = 0.0
    for _ in 0..<12 {
      expect(now, .deliver)
      end(.failed(after: nil), now)
      guard case .wait(let until) = next(now) else {
        Issue.record("it does not rest")
        return
      }
      rests.append((until - s(now)).milliseconds)
      sending.feedbackAdded()
      expect(now, .wait(until: until))
      now += Double(rests.last ?? 0) / 1_000
    }
    let seconds: [Int64] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
    #expect(rests == seconds.map { $0 * 1_000 } && sending.failures == 12)
    expect(now, .deliver)
    end(.taken(hasMore: false), now)
    #expect(sending.failures == 0)
    sending.feedbackAdded()
    expect(now, .deliver)
    end(.failed(after: nil), now)
    expect(now, .wait(until: s(now + 1)))
  }

  @Test(arguments: [(0, 800), (20, 1_000), (40, 1_200), (41, 800)] as [(UInt64, Int64)])
  func `a random draw changes the pause by up to 20 percent`(draw: UInt64, milliseconds: Int64) {
    var sending = FeedbackSending()
    let first = sending.next(at: .zero)
    #expect(first == .deliver)
    sending.ended(.failed(after: nil), at: .zero, draw: draw)
    let next = sending.next(at: .zero)
    #expect(next == .wait(until: Instant(milliseconds: milliseconds)))
  }

  @Test mutating func `the sender waits as long as the server asks, up to one hour`() {
    expect(0, .deliver)
    end(.failed(after: .seconds(30)), 0)
    expect(0, .wait(until: s(30)))
    expect(30, .deliver)
    end(.failed(after: .days(9)), 30)
    expect(30, .wait(until: s(3_630)))
  }

  @Test mutating func `a refused sender stops until a reload`() {
    expect(0, .deliver)
    end(.refused, 0)
    sending.feedbackAdded()
    expect(99_999, .nothing)
    #expect(sending.isStopped)
    sending.renewed()
    expect(99_999, .deliver)
    #expect(!sending.isStopped)
  }

  @Test mutating func `a reload ends a pause but not a send under way`() {
    expect(0, .deliver)
    end(.failed(after: nil), 0)
    sending.renewed()
    expect(0, .deliver)
    sending.renewed()
    expect(0, .nothing)
    end(.taken(hasMore: false), 0)
    expect(0, .deliver)
  }

  /// An answer of the server from before the reload does not count for the new server.
  @Test mutating func `a reload during a send asks the new server at once`() {
    for outcome in [FeedbackSending.Outcome.refused, .failed(after: .hours(1))] {
      expect(0, .deliver)
      sending.renewed()
      sending.feedbackAdded()
      end(outcome, 0)
      #expect(!sending.isStopped && sending.failures == 0)
    }
    expect(0, .deliver)
    end(.refused, 0)
    #expect(sending.isStopped)
  }

  @Test mutating func `an unexpected outcome changes nothing`() {
    end(.refused, 0)
    expect(0, .deliver)
    end(.empty, 0)
    end(.failed(after: nil), 0)
    expect(0, .nothing)
    #expect(sending.failures == 0)
  }

  private mutating func expect(_ seconds: Double, _ action: FeedbackSending.Action) {
    let next = next(seconds)
    #expect(next == action)
  }

  private mutating func next(_ seconds: Double) -> FeedbackSending.Action {
    sending.next(at: s(seconds))
  }

  private mutating func end(_ outcome: FeedbackSending.Outcome, _ seconds: Double) {
    sending.ended(outcome, at: s(seconds), draw: 20)
  }
}

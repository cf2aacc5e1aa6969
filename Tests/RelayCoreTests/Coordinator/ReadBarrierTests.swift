import Testing

@testable import RelayCore

/// Readers that wait for a fold, each until its own deadline.
@Suite struct ReadBarrierTests {
  private let place = ReadTarget.devices(Sample.scope, Sample.owner)

  @Test func `each reader waits until its own deadline, whichever came first`() {
    var barrier = ReadBarrier<Int>(readersMax: 9, waitMax: .seconds(30))
    barrier.begin()
    barrier.dirtied(place)
    for (reader, second) in [(1, 10.0), (2, 20), (3, 15), (4, 15), (5, 5)] {
      #expect(barrier.read([place], until: .s(second), at: .s(0), reader) == nil)
    }
    #expect(barrier.expire(at: .s(4)).isEmpty)
    #expect(barrier.expire(at: .s(10)) == [5, 1])
    #expect(barrier.expire(at: .s(15)) == [3, 4])
    #expect(barrier.readers == 1)
    barrier.cut()
    #expect(barrier.folded() == [2])
  }

  /// Limit: limits.answerWithin
  @Test func `no reader waits longer than the relay's own bound`() {
    var barrier = ReadBarrier<Int>(readersMax: 9, waitMax: .seconds(30))
    barrier.begin()
    barrier.dirtied(place)
    #expect(barrier.read([place], until: .never, at: .s(5), 1) == nil)
    #expect(barrier.expire(at: .s(34)).isEmpty && barrier.expire(at: .s(35)) == [1])
  }

  @Test func `a reader is refused while the relay recovers, with too many readers, and at the end`()
  {
    var barrier = ReadBarrier<Int>(readersMax: 1, waitMax: .seconds(30))
    var outcomes = [barrier.read([place], until: .never, at: .zero, 1)]
    barrier.begin()
    barrier.dirtied(place)
    outcomes += [2, 3].map { barrier.read([place], until: .never, at: .zero, $0) }
    #expect(barrier.refused(.storeFull) == [2] && barrier.close().isEmpty)
    outcomes.append(barrier.read([place], until: .never, at: .zero, 4))
    #expect(
      outcomes == [.refused(.recovering), nil, .refused(.readersFull), .refused(.draining)])
  }
}

import Testing

@testable import RelayCore

/// Readers that wait for a fold, each until its own deadline.
@Suite struct ReadBarrierTests {
  private let place = ReadTarget.devices(Sample.scope, Sample.owner)

  @Test func `each reader waits until its own deadline, whichever came first`() {
    var barrier = ReadBarrier<Int>(readersMax: 9)
    barrier.begin()
    barrier.dirtied(place)
    for (reader, second) in [(1, 10.0), (2, 20), (3, 15), (4, 15), (5, 5)] {
      #expect(barrier.read([place], until: .s(second), reader) == nil)
    }
    #expect(barrier.expire(at: .s(4)).isEmpty)
    #expect(barrier.expire(at: .s(10)) == [5, 1])
    #expect(barrier.expire(at: .s(15)) == [3, 4])
    #expect(barrier.readers == 1)
    barrier.cut()
    #expect(barrier.folded() == [2])
  }
}

import Testing

@testable import RelayCore

/// The queue in blocks gives the same answers as an array.
@Suite struct RememberedQueueTests {
  private func item(_ number: Int) -> Remembered {
    Remembered(
      ordinal: Ordinal(UInt64(number)), at: .s(Double(number)), fingerprint: UInt64(number))
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `the queue holds the same items as an array`(seed: UInt64) {
    var draw = SeededRandom(seed: seed)
    var (queue, array): (RememberedQueue, [Remembered]) = (RememberedQueue(), [])
    var next = 0
    for _ in 0..<60 {
      for _ in 0..<draw.below(3 * RememberedQueue.blockSize / 2) {
        queue.append(item(next))
        array.append(item(next))
        next += 1
      }
      let over = draw.chance(20) ? array.count : draw.below(array.count + 1)
      for _ in 0..<over { queue.removeFirst() }
      array.removeFirst(over)
      #expect(queue.count == array.count && queue.first == array.first)
      let isSame = array.indices.allSatisfy { queue[$0] == array[$0] }
      #expect(isSame)
    }
  }
}

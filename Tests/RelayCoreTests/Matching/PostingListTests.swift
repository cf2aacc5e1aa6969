@testable import RelayCore
import Testing

/// A posting list, which is stored in pieces, compared with a plain set.
@Suite struct PostingListTests {
  private func item(_ number: Int) -> PostingList.Item {
    let subscription = Subscription(
      id: SubscriptionID("s"), database: .public, rule: .database(recordType: nil),
      info: NotificationInfo())
    let serial = Position(bits: UInt64(number))
    return PostingList.Item(
      serial: serial, user: number,
      held: SubscriptionIndex.Held(serial: serial, subscription: subscription))
  }

  private func numbers(_ list: PostingList, after cursor: Int) -> [Int] {
    var walk = list.walk(after: Position(bits: UInt64(cursor)))
    var found: [Int] = []
    while let item = walk.item {
      found.append(item.user)
      walk.advance()
    }
    return found
  }

  @Test(arguments: [1, 2, 3])
  func `random insertions and removals keep the posting list in order`(seed: UInt64) {
    var draw = SeededRandom(seed: seed)
    var list = PostingList()
    var plain: Set<Int> = []
    for round in 0..<6_000 {
      // The list grows over several pieces, and then shrinks to nothing.
      let grows = round < 4_000 ? draw.chance(70) : draw.chance(20)
      if grows {
        let number = 1 + draw.below(20_000)
        if plain.insert(number).inserted { list.insert(item(number)) }
      } else if let number = plain.randomElement(using: &draw) {
        plain.remove(number)
        list.remove(Position(bits: UInt64(number)))
      } else {
        list.remove(Position(bits: 7))
      }
      guard round % 100 == 0 else { continue }
      let cursor = draw.below(20_000)
      #expect(numbers(list, after: cursor) == plain.filter { $0 > cursor }.sorted())
    }
    #expect(numbers(list, after: 0) == plain.sorted())
  }

  /// Subscriptions come with rising serials. If the list then left its pieces half full, it would
  /// take twice the memory.
  @Test func `rising serials leave full pieces`() {
    var (rising, falling) = (PostingList(), PostingList())
    for number in 1...(4 * PostingList.pieceMax) {
      rising.insert(item(number))
      falling.insert(item(4 * PostingList.pieceMax + 1 - number))
    }
    #expect(PostingList.isShorter(rising, falling) && !PostingList.isShorter(falling, rising))
  }

  @Test func `a posting list takes rising and falling serials over many pieces`() {
    let count = PostingList.pieceMax * 5 + 1
    for order in [Array(1...count), Array((1...count).reversed())] {
      var list = PostingList()
      for number in order { list.insert(item(number)) }
      #expect(numbers(list, after: 0) == Array(1...count))
      #expect(numbers(list, after: count - 1) == [count])
      #expect(numbers(list, after: count).isEmpty)
      for number in order { list.remove(Position(bits: UInt64(number))) }
      #expect(list.isEmpty && numbers(list, after: 0).isEmpty)
    }
  }
}

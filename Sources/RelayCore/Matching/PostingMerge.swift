import HeapModule

/// Merges several lists in order of serial, and returns each serial once. A record may match as
/// many lists as it has values; the cost of each item is the logarithm of the number of lists.
struct PostingMerge {
  private var walks: [PostingList.Walk]
  private var heads: Heap<Head>

  private struct Head: Comparable {
    let serial: Position
    let walk: Int

    static func < (left: Head, right: Head) -> Bool { left.serial < right.serial }
  }

  init(_ lists: [PostingList], after cursor: Position) {
    walks = lists.map { $0.walk(after: cursor) }
    heads = Heap(
      walks.enumerated().compactMap { walk in
        walk.element.item.map { Head(serial: $0.serial, walk: walk.offset) }
      })
  }

  mutating func next() -> PostingList.Item? {
    guard let serial = heads.min?.serial else { return nil }
    var found: PostingList.Item?
    while let head = heads.min, head.serial == serial {
      found = walks[head.walk].item
      walks[head.walk].advance()
      if let item = walks[head.walk].item {
        heads.replaceMin(with: Head(serial: item.serial, walk: head.walk))
      } else {
        heads.removeMin()
      }
    }
    return found
  }
}

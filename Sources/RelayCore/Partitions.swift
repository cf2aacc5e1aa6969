/// The partitions of a relay, at fixed places in memory.
///
/// Not an array: calling a method on an array's element copies the element first, and a partition
/// has dozens of tables, each to be retained and released. Asking all 64 of them about each change
/// of a request took a tenth of a second.
///
/// `@unchecked Sendable`: it owns its memory alone, and what lies there is a value.
struct Partitions: ~Copyable, @unchecked Sendable {
  private let first: UnsafeMutablePointer<Partition>
  let count: Int

  init(_ all: [Partition]) {
    count = all.count
    first = .allocate(capacity: all.count)
    first.initialize(from: all, count: all.count)
  }

  deinit {
    first.deinitialize(count: count)
    first.deallocate()
  }

  var indices: Range<Int> { 0..<count }

  /// Asks a partition something without copying it. The closure has the partition to itself
  /// meanwhile, and must not change it.
  func ask<Answer>(_ index: Int, _ question: (inout Partition) -> Answer) -> Answer {
    precondition(indices.contains(index), "no such partition")
    return question(&first[index])
  }

  /// To change a partition, or to read a part of it. To call a method on it that reads, use `ask`:
  /// the compiler copies it before such a call.
  subscript(index: Int) -> Partition {
    unsafeAddress {
      precondition(indices.contains(index), "no such partition")
      return UnsafePointer(first + index)
    }
    unsafeMutableAddress {
      precondition(indices.contains(index), "no such partition")
      return first + index
    }
  }
}

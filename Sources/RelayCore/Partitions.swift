/// The partitions of a relay, at fixed places in memory.
///
/// The partitions are not in an array, because calling a method on an array's element copies the
/// element first. A partition has dozens of tables, and a copy retains and releases each table. For
/// a request of 1,000 changes, calling a method of all 64 partitions for each change took a tenth
/// of a second.
///
/// `Sendable` is unchecked, because this type is the only owner of its memory, and a partition is a
/// value.
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

  /// Calls the closure with a partition, without copying the partition. The closure has exclusive
  /// access to the partition and must not change it.
  func ask<Answer>(_ index: Int, _ question: (inout Partition) -> Answer) -> Answer {
    precondition(indices.contains(index), "no such partition")
    return question(&first[index])
  }

  /// Gives access to a partition in place, to change it or to read a property. To call a method
  /// that only reads, use `ask`, because the compiler copies the partition before such a call.
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

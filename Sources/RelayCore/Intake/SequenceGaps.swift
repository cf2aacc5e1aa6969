/// Numbers that a producer skipped, in order, with the time since when each is missing.
package struct SequenceGaps: Hashable, Sendable {
  /// Consecutive numbers that went missing together.
  package struct Run: Hashable, Sendable {
    package var first: Int64
    package var last: Int64
    package var since: Instant

    package init(first: Int64, last: Int64, since: Instant) {
      (self.first, self.last, self.since) = (first, last, since)
    }
  }

  /// The runs of missing numbers, in order of number. This is also the order of `since`: a number
  /// is found missing only when a higher number comes, above all numbers that came before.
  package private(set) var runs: [Run]

  package init(_ runs: [Run] = []) { self.runs = runs }

  package var isEmpty: Bool { runs.isEmpty }
  package var count: Int64 { runs.reduce(0) { $0 + ($1.last - $1.first + 1) } }
  package var lowest: Int64? { runs.first?.first }
  package var oldest: Instant? { runs.first?.since }

  /// - Precondition: `run` lies above all other runs.
  package mutating func open(_ run: Run) {
    precondition(
      run.first <= run.last && runs.last.map { $0.last < run.first } ?? true,
      "a hole opens above all that was heard")
    runs.append(run)
  }

  /// - Returns: false if the number is not missing.
  package mutating func close(_ number: Int64) -> Bool {
    guard let index = index(of: number) else { return false }
    let run = runs[index]
    switch (number == run.first, number == run.last) {
    case (true, true): runs.remove(at: index)
    case (true, false): runs[index].first = number + 1
    case (false, true): runs[index].last = number - 1
    case (false, false):
      runs[index].last = number - 1
      runs.insert(Run(first: number + 1, last: run.last, since: run.since), at: index + 1)
    }
    return true
  }

  private func index(of number: Int64) -> Int? {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].last < number { low = middle + 1 } else { high = middle }
    }
    return low < runs.count && runs[low].first <= number ? low : nil
  }

  /// The gaps below a number that is not missing itself.
  package func below(_ number: Int64) -> SequenceGaps {
    SequenceGaps(Array(runs.prefix { $0.last < number }))
  }

  /// Forgets runs that went missing at `instant` or before.
  ///
  /// - Returns: false if no run was that old.
  package mutating func forget(through instant: Instant) -> Bool {
    let old = runs.prefix { $0.since <= instant }.count
    runs.removeFirst(old)
    return old > 0
  }
}

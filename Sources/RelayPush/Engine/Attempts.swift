import RelayCore

/// Names one admitted request. A name is never used twice, so a late event about an answered
/// request never matches a newer request.
package struct AttemptID: Hashable, Sendable {
  var index: UInt32
  var generation: UInt32
}

/// Every request that waits or is on a stream, until it is answered. Each request leaves exactly
/// once, by `finish`, `expire` or `next`.
///
/// The entries form one list by deadline, earliest first. Most requests have the same timeout, so a
/// new entry usually goes to the end of the list at once. A search from the end finds the place of
/// an entry with an earlier deadline.
package struct Attempts<Payload> {
  private var entries: [Entry] = []
  private var free: [UInt32] = []
  private var first = none
  private var last = none
  package private(set) var count = 0

  private static var none: UInt32 { .max }

  private struct Entry {
    var payload: Payload?
    var deadline: Uptime
    var generation: UInt32
    var earlier: UInt32
    var later: UInt32
  }

  package init() {}

  package mutating func admit(_ payload: Payload, deadline: Uptime) -> AttemptID {
    var before = last
    while before != Self.none, entries[Int(before)].deadline > deadline {
      before = entries[Int(before)].earlier
    }
    let after = before == Self.none ? first : entries[Int(before)].later
    let index: UInt32
    if let reused = free.popLast() {
      index = reused
      entries[Int(index)].payload = payload
      entries[Int(index)].deadline = deadline
      entries[Int(index)].earlier = before
      entries[Int(index)].later = after
    } else {
      index = UInt32(entries.count)
      entries.append(
        Entry(payload: payload, deadline: deadline, generation: 0, earlier: before, later: after))
    }
    if before == Self.none { first = index } else { entries[Int(before)].later = index }
    if after == Self.none { last = index } else { entries[Int(after)].earlier = index }
    count += 1
    return AttemptID(index: index, generation: entries[Int(index)].generation)
  }

  package func contains(_ id: AttemptID) -> Bool {
    Int(id.index) < entries.count && entries[Int(id.index)].generation == id.generation
      && entries[Int(id.index)].payload != nil
  }

  /// Reads or changes an admitted request. Returns nil if the request has left.
  package mutating func with<Result>(
    _ id: AttemptID, _ body: (inout Payload) -> Result
  ) -> Result? {
    guard contains(id) else { return nil }
    return body(&entries[Int(id.index)].payload!)
  }

  /// Removes a request. Returns nil if the request has left already, which is a normal case.
  package mutating func finish(_ id: AttemptID) -> Payload? {
    guard contains(id) else { return nil }
    let index = Int(id.index)
    let (earlier, later) = (entries[index].earlier, entries[index].later)
    if earlier == Self.none { first = later } else { entries[Int(earlier)].later = later }
    if later == Self.none { last = earlier } else { entries[Int(later)].earlier = earlier }
    entries[index].generation &+= 1
    free.append(id.index)
    count -= 1
    return entries[index].payload.take()
  }

  package var nextDeadline: Uptime? {
    first == Self.none ? nil : entries[Int(first)].deadline
  }

  /// Removes the request with the earliest deadline if that deadline has come. Returns nil if there
  /// is no such request.
  package mutating func expire(at now: Uptime) -> (id: AttemptID, payload: Payload)? {
    guard let deadline = nextDeadline, deadline <= now else { return nil }
    return next()
  }

  /// Removes the request with the earliest deadline, whether or not the deadline has come.
  package mutating func next() -> (id: AttemptID, payload: Payload)? {
    guard first != Self.none else { return nil }
    let id = AttemptID(index: first, generation: entries[Int(first)].generation)
    return finish(id).map { (id, $0) }
  }
}

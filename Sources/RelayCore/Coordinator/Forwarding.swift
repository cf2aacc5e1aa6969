import DequeModule

/// Messages between partitions, on their way from a durable outbox into their targets' journals.
/// Messages keep the order of each source's tracks, and take no more room for fan-outs than the
/// target has. A message that waits for room delays only later messages on its track; tracks take
/// turns. A message that concerns few users of its target needs no room.
package struct Forwarding: Sendable {
  private struct Queue {
    var rows: Deque<OutboxRow> = []
    /// Whether the first message concerns many users and waits for room. The result is kept,
    /// because each check searches the target's subscriptions.
    var isFirstWide = false
  }

  /// A message's place in the outbox of its source.
  private struct Place: Hashable {
    var source: PartitionID
    var serial: Position
  }

  private var waiting: [PartitionID: [Hearing: Queue]] = [:]
  /// For each target, the track that last took room. The tracks after it have their turns first.
  private var lastTurn: [PartitionID: Hearing] = [:]
  /// For each target, the messages that took room for a fan-out, were returned by `take`, and are
  /// not yet stepped.
  private var underWay: [PartitionID: Set<Place>] = [:]

  package init() {}

  package var isEmpty: Bool { waiting.isEmpty }

  /// - Parameter rows: the rows of one fold, or of the tables at the start.
  package mutating func add(_ rows: [OutboxRow]) {
    for row in Self.inOrder(rows) {
      let hearing = Hearing(source: row.source, track: Track(of: row.key.serial))
      waiting[row.key.target, default: [:]][hearing, default: Queue()].rows.append(row)
    }
  }

  /// Takes the messages that may be journalled now; the rows of one message are adjacent.
  package mutating func take(for relay: borrowing Relay) -> [OutboxRow] {
    take(room: { relay.fanOutRoom(in: $0) }, isWide: { relay.mayFanOut($0) })
  }

  /// - Parameters:
  ///   - fanOuts: how many more fan-outs a partition may have.
  ///   - isWide: whether a message concerns more users of its target than one step reaches.
  mutating func take(
    room fanOuts: (PartitionID) -> Int, isWide: (OutboxRow) -> Bool
  ) -> [OutboxRow] {
    var rows: [OutboxRow] = []
    for target in waiting.keys.sorted() {
      var room = fanOuts(target) - (underWay[target]?.count ?? 0)
      var turns = turns(of: target)
      while let hearing = turns.popFirst() {
        guard var queue = waiting[target]?.removeValue(forKey: hearing) else { continue }
        var hasTakenRoom = false
        while let row = queue.rows.first {
          if row.message.isFanOut {
            if hasTakenRoom { break }
            if room > 0 {
              room -= 1
              hasTakenRoom = true
              lastTurn[target] = hearing
              underWay[target, default: []].insert(
                Place(source: hearing.source, serial: row.key.serial))
            } else {
              queue.isFirstWide = queue.isFirstWide || isWide(row)
              if queue.isFirstWide { break }
            }
          }
          queue.isFirstWide = false
          rows.append(row)
          queue.rows.removeFirst()
        }
        guard !queue.rows.isEmpty else { continue }
        waiting[target]?[hearing] = queue
        if hasTakenRoom { turns.append(hearing) }
      }
      if waiting[target]?.isEmpty == true { (waiting[target], lastTurn[target]) = (nil, nil) }
    }
    return Self.inOrder(rows)
  }

  /// The tracks that have messages to a target, in the order of their turns. Each track takes
  /// room for one fan-out, and then waits behind the other tracks.
  private func turns(of target: PartitionID) -> Deque<Hearing> {
    let all = (waiting[target] ?? [:]).keys.sorted()
    guard let last = lastTurn[target], let next = all.firstIndex(where: { $0 > last }) else {
      return Deque(all)
    }
    return Deque(all[next...] + all[..<next])
  }

  /// The rows in order of source and serial. A fold may have 60,000 rows, which are usually in this
  /// order already. Sorting their indices costs less than moving the rows.
  private static func inOrder(_ rows: [OutboxRow]) -> [OutboxRow] {
    func isBefore(_ first: Int, _ second: Int) -> Bool {
      (rows[first].source, rows[first].key.serial) < (rows[second].source, rows[second].key.serial)
    }
    guard rows.indices.dropFirst().contains(where: { isBefore($0, $0 - 1) }) else { return rows }
    return rows.indices.sorted(by: isBefore).map { rows[$0] }
  }

  /// The target has stepped the message.
  package mutating func delivered(_ key: OutboxRow.Key, from source: PartitionID) {
    underWay[key.target]?.remove(Place(source: source, serial: key.serial))
    if underWay[key.target]?.isEmpty == true { underWay[key.target] = nil }
  }
}

extension Forwarded.Message {
  /// Whether the message may go on in slices at its target.
  var isFanOut: Bool {
    guard case .change(let change, _) = self else { return false }
    switch change.event {
    case .record: return true
    case .zone: return !change.endsZone
    case .granted, .revoked: return false
    }
  }
}

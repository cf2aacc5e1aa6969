import OrderedCollections

/// Messages that this partition exchanges with other partitions and with itself: the messages that
/// it has sent since the last cut, and the last message that it has received on each track of each
/// partition.
struct Messages: Sendable {
  private let id: PartitionID
  /// Messages sent since the last cut, in order.
  private(set) var sent: [OutboxRow] = []
  /// Messages that their targets have stepped since the last cut.
  private var delivered: [OutboxRow.Key] = []
  /// On each track, the last message to this partition itself that had to wait in the outbox.
  private var lastToSelf: [Track: Position] = [:]
  private var heard: [Hearing: Position] = [:]
  private var writtenHeard: OrderedSet<Hearing> = []

  init(loading tables: PartitionTables) {
    id = tables.id
    for item in tables.heard { heard[item.hearing] = item.serial }
    for row in tables.outbox where row.key.target == id {
      let track = Track(of: row.key.serial)
      lastToSelf[track] = max(lastToSelf[track] ?? .zero, row.key.serial)
    }
  }

  var isDirty: Bool { !sent.isEmpty || !delivered.isEmpty || !writtenHeard.isEmpty }

  mutating func post(_ message: Forwarded.Message, to target: PartitionID, at ordinal: Ordinal) {
    let track = Track(of: message)
    let index = sent.last.map { last in
      last.key.serial.ordinal == ordinal ? last.key.serial.indexOnTrack + 1 : 0
    }
    let serial = track.serial(ordinal, index: index ?? 0)
    sent.append(
      OutboxRow(
        source: id, key: OutboxRow.Key(target: target, serial: serial), message: message))
    if target == id { lastToSelf[track] = serial }
  }

  /// Whether messages to this partition itself wait in the outbox. Later messages on the same track
  /// must then wait behind them.
  func areWaitingForSelf(on track: Track) -> Bool {
    guard let last = lastToSelf[track] else { return false }
    return last > heard[Hearing(source: id, track: track)] ?? .zero
  }

  /// The row's target has stepped the message.
  mutating func delivered(_ key: OutboxRow.Key) { delivered.append(key) }

  /// - Returns: false if this message, or a later message on its track, was received before.
  mutating func hear(_ serial: Position, from source: PartitionID) -> Bool {
    let hearing = Hearing(source: source, track: Track(of: serial))
    if let last = heard[hearing], serial <= last { return false }
    heard[hearing] = serial
    writtenHeard.append(hearing)
    return true
  }

  mutating func drain(into cut: inout PartitionCut) {
    (cut.outbox, cut.delivered) = (sent, delivered)
    cut.heard = writtenHeard.sorted().map {
      Heard(source: $0.source, serial: heard[$0] ?? .zero)
    }
    (sent, delivered, writtenHeard) = ([], [], [])
  }
}

import Foundation
import GRDB
import RelayCore
import RelayEngine

/// The messages that one partition sends, within one fold. A message is one row however many
/// targets it has: a record's values may be large, and a public change concerns up to 64
/// partitions.
struct OutboxTable {
  let database: GRDB.Database
  let source: PartitionID

  private var number: Int { Int(source.number) }

  /// - Parameter rows: in the order in which they were sent. A row that exists already stays.
  func append(_ rows: [OutboxRow]) throws {
    var rest = rows[...]
    while let first = rest.popFirst() {
      var run = OutboxRun(first.key)
      while let next = rest.first, next.message == first.message, run.extend(to: next.key) {
        rest.removeFirst()
      }
      try database.run(
        "INSERT OR IGNORE INTO outbox (source, serial, targets, message) VALUES (?, ?, ?, ?)",
        arguments(run) + [Data(first.message.blob)])
    }
  }

  /// Removes messages that have arrived, and ignores messages that are removed already.
  func remove(_ keys: [OutboxRow.Key]) throws {
    var current: (run: OutboxRun, waiting: UInt64)?
    for key in keys.sorted(by: { $0.serial < $1.serial }) {
      if current?.run.contains(key) != true {
        try save(current)
        current = try find(key)
      }
      current?.waiting &= ~key.target.bit
    }
    try save(current)
  }

  /// All messages that have not arrived, in the order of their serials.
  func all() throws -> [OutboxRow] {
    let rows = try Row.fetchCursor(
      database,
      sql: """
        SELECT serial, targets, waiting, message
        FROM outbox LEFT JOIN outbox_waiting USING (source, serial, targets)
        WHERE source = ? ORDER BY serial, targets
        """, arguments: [number])
    var all: [OutboxRow] = []
    while let row = try rows.next() {
      let run = OutboxRun(row)
      guard run.targets != 0 else { throw WrongNumber(what: "targets", number: 0) }
      let waiting = (row[2] as Int64?).map { UInt64(bitPattern: $0) } ?? run.targets
      let message = try Forwarded.Message(blob: row.bytes(3))
      for key in run.keys where waiting & key.target.bit != 0 {
        all.append(OutboxRow(source: source, key: key, message: message))
      }
    }
    return all
  }

  private func find(_ key: OutboxRow.Key) throws -> (run: OutboxRun, waiting: UInt64)? {
    let span = UInt64(PartitionID.count - 1)
    let first = Position(bits: key.serial.bits - min(key.serial.bits, span))
    let runs = try database.rows(
      "SELECT serial, targets FROM outbox WHERE source = ? AND serial BETWEEN ? AND ?",
      [number, first.column, key.serial.column]
    ).map { OutboxRun($0) }
    guard let run = runs.first(where: { $0.contains(key) }) else { return nil }
    let waiting: Int64? = try database.value(
      "SELECT waiting FROM outbox_waiting WHERE source = ? AND serial = ? AND targets = ?",
      arguments(run))
    return (run, waiting.map { UInt64(bitPattern: $0) } ?? run.targets)
  }

  private func save(_ state: (run: OutboxRun, waiting: UInt64)?) throws {
    guard let (run, waiting) = state else { return }
    guard waiting == 0 else {
      return try database.run(
        """
        INSERT OR REPLACE INTO outbox_waiting (source, serial, targets, waiting)
        VALUES (?, ?, ?, ?)
        """, arguments(run) + [Int64(bitPattern: waiting)])
    }
    for table in ["outbox", "outbox_waiting"] {
      try database.run(
        "DELETE FROM \(table) WHERE source = ? AND serial = ? AND targets = ?", arguments(run))
    }
  }

  private func arguments(_ run: OutboxRun) -> StatementArguments {
    [number, run.serial.column, Int64(bitPattern: run.targets)]
  }
}

/// The targets of one message, as one row of the table has them. The message has a serial for each
/// target; in the order of the targets' partition numbers, these serials are consecutive.
struct OutboxRun: Hashable {
  /// The serial of the message to the first target; to each further target it is one higher.
  let serial: Position
  /// One bit for each target.
  private(set) var targets: UInt64

  init(_ key: OutboxRow.Key) {
    serial = key.serial
    targets = key.target.bit
  }

  /// - Parameter row: begins with `serial` and `targets`.
  fileprivate init(_ row: Row) {
    serial = Position(column: row[0])
    targets = UInt64(bitPattern: row[1])
  }

  /// - Returns: false if the message to this target needs a row of its own.
  mutating func extend(to key: OutboxRow.Key) -> Bool {
    guard key.target.bit > targets, key.serial == serial(before: key.target.bit) else {
      return false
    }
    targets |= key.target.bit
    return true
  }

  func contains(_ key: OutboxRow.Key) -> Bool {
    targets & key.target.bit != 0 && key.serial == serial(before: key.target.bit)
  }

  var keys: [OutboxRow.Key] {
    PartitionID.all.filter { targets & $0.bit != 0 }.map {
      OutboxRow.Key(target: $0, serial: serial(before: $0.bit))
    }
  }

  private func serial(before bit: UInt64) -> Position {
    Position(bits: serial.bits &+ UInt64((targets & (bit - 1)).nonzeroBitCount))
  }
}

extension PartitionID {
  fileprivate var bit: UInt64 { 1 << UInt64(number) }
}

import GRDB
import RelayCore
import RelayEngine

/// The two statements that a fold runs for every subject.
struct EntryStatements {
  private let find: RawStatement
  private let save: RawStatement

  init(_ database: GRDB.Database) throws {
    find = try RawStatement(
      "SELECT \(EntryRow.columns) FROM entries WHERE feed = ? AND subject = ?", in: database)
    save = try RawStatement(
      """
      INSERT OR REPLACE INTO entries
        (feed, subject, position, state, gone, born, died, reborn, device, stranger, sequence,
         time, detail, kept, aging)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, in: database)
  }

  func entry(of feed: Int64, _ key: [UInt8], subject: Subject) throws -> Entry? {
    defer { find.reset() }
    find.bind(feed, at: 1)
    find.bind(key, at: 2)
    guard try find.step() else { return nil }
    let state = UInt8(exactly: find.number(1)).flatMap(Life.State.init(rawValue:))
    guard let state else { throw StoreKeyReader.Malformed() }
    let life = Life(
      position: position(0), state: state, born: position(2), died: position(3),
      reborn: position(4), device: try device(5), foreign: position(6),
      sequence: find.isNull(7) ? nil : find.number(7),
      time: Instant(milliseconds: find.number(8)))
    return Entry(subject: subject, life: life, detail: try Detail(blob: find.bytes(9)))
  }

  /// - Parameter kept: the relay's time at the fold.
  func save(_ entry: Entry, of feed: Int64, _ key: [UInt8], kept: Instant) throws {
    defer { save.reset() }
    let life = entry.life
    save.bind(feed, at: 1)
    save.bind(key, at: 2)
    save.bind(life.position.column, at: 3)
    save.bind(Int64(life.state.rawValue), at: 4)
    save.bind(life.isPresent ? 0 : 1, at: 5)
    save.bind(life.born.column, at: 6)
    save.bind(life.died.column, at: 7)
    save.bind(life.reborn.column, at: 8)
    if let device = life.device { save.bind(StoreKey(client: device).bytes, at: 9) }
    save.bind(life.foreign.column, at: 10)
    if let sequence = life.sequence { save.bind(sequence, at: 11) }
    save.bind(life.time.milliseconds, at: 12)
    save.bind(entry.detail.blob, at: 13)
    save.bind(kept.milliseconds, at: 14)
    if let aging = Aging(entry) { save.bind(Int64(aging.rawValue), at: 15) }
    _ = try save.step()
  }

  private func position(_ column: Int32) -> Position {
    Position(column: find.number(column))
  }

  private func device(_ column: Int32) throws -> ClientID? {
    guard !find.isNull(column) else { return nil }
    var reader = StoreKeyReader(find.bytes(column))
    return ClientID(Identifier(high: try reader.word(), low: try reader.word()))
  }
}

import RelayCore
import RelayEngine

/// Reads an entry from its table row.
enum EntryRow {
  /// The columns, in the order in which `entry` reads them. `subject` is last because some callers
  /// have it already.
  static let columns = """
    position, state, born, died, reborn, device, stranger, sequence, time, detail, subject
    """

  static func entry(_ row: RawStatement, subject: Subject? = nil) throws -> Entry {
    func position(_ column: Int32) -> Position { Position(column: row.number(column)) }
    let state = UInt8(exactly: row.number(1)).flatMap(Life.State.init(rawValue:))
    guard let state else { throw StoreKeyReader.Malformed() }
    var device = StoreKeyReader(row.bytes(5))
    let life = Life(
      position: position(0), state: state, born: position(2), died: position(3),
      reborn: position(4), device: row.isNull(5) ? nil : try device.client(),
      foreign: position(6), sequence: row.isNull(7) ? nil : row.number(7),
      time: Instant(milliseconds: row.number(8)))
    return Entry(
      subject: try subject ?? Subject(row.bytes(10)), life: life,
      detail: try Detail(blob: row.bytes(9)))
  }
}

extension Position {
  var column: Int64 { Int64(bitPattern: bits) }
  init(column: Int64) { self.init(bits: UInt64(bitPattern: column)) }
}

/// A number that this relay never writes into a row: the file is damaged.
struct WrongNumber: Error, CustomStringConvertible {
  let what: String
  let number: Int64
  var description: String { "\(number) is no \(what)" }
}

extension Int64 {
  /// - Throws: `WrongNumber` unless the number is in the range.
  func checked(_ what: String, in range: ClosedRange<Int64>) throws -> Int64 {
    guard range.contains(self) else { throw WrongNumber(what: what, number: self) }
    return self
  }
}

extension PartitionID {
  /// - Throws: `WrongNumber` for a number that no partition has.
  init(column: Int64) throws {
    self.init(Int(try column.checked("partition", in: 0...Int64(Self.count - 1))))
  }
}

extension FeedbackPosition {
  /// - Throws: `WrongNumber` for a number below zero.
  init(column: Int64) throws {
    self.init(UInt64(try column.checked("position of feedback", in: 0...Int64.max)))
  }
}

extension Ordinal {
  /// - Throws: `WrongNumber` for a number that cannot be an ordinal.
  init(checked column: Int64) throws {
    self.init(UInt64(try column.checked("ordinal", in: 0...Int64(Self.codedMax.number))))
  }

  var column: Int64 { Int64(bitPattern: number) }
  init(column: Int64) { self.init(UInt64(bitPattern: column)) }
}

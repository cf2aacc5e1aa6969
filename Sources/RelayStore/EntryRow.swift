import Foundation
import GRDB
import RelayCore
import RelayEngine

/// Translates between an entry and its table row.
enum EntryRow {
  /// The columns, in the order in which `entry(_:)` reads them. `subject` is last because some
  /// callers have it already.
  static let columns = """
    position, state, born, died, reborn, device, stranger, sequence, time, detail, subject
    """

  static func entry(_ row: Row) throws -> Entry {
    try entry(row, subject: try Subject(row[10] as Data))
  }

  static func entry(_ row: Row, subject: Subject) throws -> Entry {
    let number: Int64 = row[1]
    guard let state = UInt8(exactly: number).flatMap(Life.State.init(rawValue:)) else {
      throw StoreKeyReader.Malformed()
    }
    var device: ClientID?
    if let data = row[5] as Data? {
      var reader = StoreKeyReader(data)
      device = ClientID(Identifier(high: try reader.word(), low: try reader.word()))
    }
    let life = Life(
      position: Position(column: row[0]), state: state, born: Position(column: row[2]),
      died: Position(column: row[3]), reborn: Position(column: row[4]), device: device,
      foreign: Position(column: row[6]), sequence: row[7], time: Instant(milliseconds: row[8]))
    return Entry(
      subject: subject, life: life, detail: try Detail(blob: [UInt8](row[9] as Data)))
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

extension PartitionID {
  /// - Throws: `WrongNumber` for a number that no partition has.
  init(column: Int64) throws {
    guard (0..<Int64(Self.count)).contains(column) else {
      throw WrongNumber(what: "partition", number: column)
    }
    self.init(Int(column))
  }
}

extension FeedbackPosition {
  /// - Throws: `WrongNumber` for a number below zero.
  init(column: Int64) throws {
    guard let number = UInt64(exactly: column) else {
      throw WrongNumber(what: "position of feedback", number: column)
    }
    self.init(number)
  }
}

extension Ordinal {
  /// - Throws: `WrongNumber` for a number that cannot be an ordinal.
  init(checked column: Int64) throws {
    guard (0...Int64(Self.codedMax.number)).contains(column) else {
      throw WrongNumber(what: "ordinal", number: column)
    }
    self.init(UInt64(column))
  }

  var column: Int64 { Int64(bitPattern: number) }
  init(column: Int64) { self.init(UInt64(bitPattern: column)) }
}

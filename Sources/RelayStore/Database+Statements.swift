import Foundation
import GRDB

/// Statements that every connection prepares once and keeps.
extension GRDB.Database {
  func run(_ sql: String, _ arguments: StatementArguments = []) throws {
    try cachedStatement(sql: sql).execute(arguments: arguments)
  }

  func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
    try Row.fetchAll(try cachedStatement(sql: sql), arguments: arguments)
  }

  /// The first column of the first row; nil if there is no row, or if the column is null.
  func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
    _ sql: String, _ arguments: StatementArguments = []
  ) throws -> Value? {
    try Value.fetchOne(try cachedStatement(sql: sql), arguments: arguments)
  }
}

/// These functions read columns that hold bytes. If damage has put null or another type into the
/// column, they throw an error, where GRDB's subscripts would end the process.
extension Row {
  /// Reads a key from a column.
  func key<Value>(
    _ column: Int, _ read: (inout StoreKeyReader) throws -> Value
  ) throws -> Value {
    var reader = StoreKeyReader(try data(column))
    return try read(&reader)
  }

  func bytes(_ column: Int) throws -> [UInt8] { [UInt8](try data(column)) }

  func data(_ column: Int) throws -> Data { try decode(Data.self, atIndex: column) }
}

import GRDB
import RelayCore
import RelayEngine

/// One write transaction with a precise outcome: committed, nothing written, or unknown.
///
/// GRDB's `write` is not used, because it throws one kind of error for all three outcomes, and its
/// `async` form may be cancelled in the middle of COMMIT.
enum Transaction {
  static func run<Value>(
    on database: GRDB.Database, file: String, _ body: (GRDB.Database) throws -> Value
  ) -> Result<Value, StoreError> {
    do {
      try database.beginTransaction(.immediate)
    } catch {
      return .failure(.rolledBack(error, file: file))
    }
    let value: Value
    do {
      value = try body(database)
    } catch {
      return .failure(rollback(database, file: file, because: .rolledBack(error, file: file)))
    }
    do {
      try database.commit()
      return .success(value)
    } catch {
      return .failure(rollback(database, file: file, because: .commit(error, file: file)))
    }
  }

  private static func rollback(
    _ database: GRDB.Database, file: String, because reason: StoreError
  ) -> StoreError {
    do {
      try database.rollback()
      return reason
    } catch {
      return .outcomeUnknown("\(reason.message); rollback failed: \(error)", file: file)
    }
  }
}

import GRDB
import RelayCore
import RelayEngine

extension StoreError {
  /// A failure before COMMIT, after which the transaction was rolled back: nothing was written.
  static func rolledBack(_ error: any Error, file: String) -> StoreError {
    if let error = error as? StoreError { return error }
    guard let error = error as? DatabaseError else { return .unreadable(error, file: file) }
    switch error.resultCode {
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: return .damaged(file: file, error.text)
    case .SQLITE_MISUSE: return .closed(file: file)
    case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_ERROR:
      return StoreError(
        .corrupt, "\(file) contradicts what is to be written (\(error.text)); restore a backup")
    case .SQLITE_FULL:
      return StoreError(
        .full,
        "\(file) cannot be written (\(error.text)); nothing was: make room on its disk, "
          + "and it goes on by itself")
    case .SQLITE_IOERR where error.hasNoRoomBeside: return .unreadable(error, file: file)
    case .SQLITE_BUSY, .SQLITE_LOCKED:
      return StoreError(
        .busy,
        "\(file) is locked by another program (\(error.text)); nothing was written: end that "
          + "program, and it goes on by itself")
    case .SQLITE_TOOBIG, .SQLITE_NOMEM:
      return StoreError(
        .tooLarge,
        "\(file) takes no more than this at once (\(error.text)); nothing was written, and the "
          + "daemon tries again with less")
    default:
      return StoreError(
        .unwritable,
        "\(file) cannot be written (\(error.text)); nothing was: look at its disk, its mount and "
          + "its permissions; it goes on by itself")
    }
  }

  /// A failure of COMMIT. If SQLite reports the error before it writes the commit record, nothing
  /// was written. After a failed sync it is unknown what the disk holds.
  static func commit(_ error: any Error, file: String) -> StoreError {
    guard let error = error as? DatabaseError else {
      return .outcomeUnknown("\(error)", file: file)
    }
    switch error.resultCode {
    case .SQLITE_FULL, .SQLITE_BUSY: return .rolledBack(error, file: file)
    default: return .outcomeUnknown(error.text, file: file)
    }
  }

  static func outcomeUnknown(_ reason: String, file: String) -> StoreError {
    StoreError(
      .unknown,
      "it is unknown whether the last commit to \(file) is on disk (\(reason)); "
        + "the daemon stops, and the next start finds out")
  }

  /// Runs a read of a file, and names the file in its error.
  static func reading<Value>(
    _ file: String, _ body: () throws -> Value
  ) throws(StoreError) -> Value {
    do {
      return try body()
    } catch {
      throw unreadable(error, file: file)
    }
  }

  static func unreadable(_ error: any Error, file: String) -> StoreError {
    if let error = error as? StoreError { return error }
    guard let error = error as? DatabaseError else {
      return .damaged(file: file, "\(error)")
    }
    switch error.resultCode {
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: return .damaged(file: file, error.text)
    case .SQLITE_FULL: return .noRoom(file: file, error.text)
    case .SQLITE_IOERR where error.hasNoRoomBeside: return .noRoom(file: file, error.text)
    default: return StoreError(.unreadable, "\(file) cannot be read: \(error.text)")
    }
  }

  private static func noRoom(file: String, _ reason: String) -> StoreError {
    StoreError(
      .full,
      "\(file) cannot be opened without room for what is kept beside it (\(reason)); nothing was "
        + "written: make room on its disk")
  }

  static func damaged(file: String, _ reason: String) -> StoreError {
    StoreError(
      .corrupt,
      "\(file) is damaged or not a zonerelay store (\(reason)); move the store's directory away, "
        + "restore a backup of all of it, then expire all tokens (/expire-tokens, control socket)")
  }

  static func closed(file: String) -> StoreError {
    StoreError(.unreadable, "\(file) was closed: the daemon is stopping")
  }
}

extension DatabaseError {
  /// True if the disk had no room for the index file that SQLite needs beside a file in WAL mode,
  /// even for a read.
  fileprivate var hasNoRoomBeside: Bool { extendedResultCode == .SQLITE_IOERR_SHMSIZE }

  /// Code and message, without statements and their arguments: those may hold push tokens.
  var text: String {
    // SQLite's message may belong to another connection that had no error; then it is left out.
    let sentence = message.flatMap { $0 == "not an error" ? nil : $0 }
    return sentence.map { "SQLite \(extendedResultCode.rawValue): \($0)" }
      ?? "SQLite \(extendedResultCode)"
  }
}

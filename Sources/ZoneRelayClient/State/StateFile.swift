public import Foundation

/// The client's state in one file, which only its owner can read. Each save writes a temporary file
/// beside it, makes that durable, and renames it.
///
/// Two clients must not share a file, nor an app and its extension: each would store tokens of
/// pages that the other one has applied. The file has no lock, because iOS ends an app that holds
/// one while it is suspended. Instead a save throws ``RelayError/Code/badState`` if another client
/// has saved since this one has read or saved the file.
public struct StateFile: StateStore {
  private let url: URL
  private let newest = NewestFile()
  private let sync: @Sendable (Int32) -> Int32

  public init(_ url: URL) { self.init(url, sync: { fsync($0) }) }

  init(_ url: URL, sync: @escaping @Sendable (Int32) -> Int32) {
    (self.url, self.sync) = (url, sync)
  }

  public func load() throws -> Data? {
    // Noted before the file is read, so that a save in between counts as another client's.
    let file = FileIdentity(url)
    let state = file == .absent ? nil : try Data(contentsOf: url)
    newest.note(file)
    return state
  }

  public func save(_ state: Data) throws {
    let file = FileIdentity(url)
    // A file that was removed is written anew.
    guard file == .absent || file == newest.identity ?? file else {
      throw RelayError(
        .badState,
        "another client has saved \(url.path): give each client a file of its own, and make one "
          + "client for each installation of the app")
    }
    let draft = url.appendingPathExtension("draft")
    try write(state, to: draft)
    let saved = FileIdentity(draft)
    guard rename(draft.path, url.path) == 0 else { throw Self.failure("rename", draft) }
    newest.note(saved)
    // Without this sync a power loss may bring the old file back.
    let directory = open(url.deletingLastPathComponent().path, O_RDONLY)
    guard directory >= 0 else { throw Self.failure("open the directory of", url) }
    defer { close(directory) }
    guard sync(directory) == 0 else { throw Self.failure("sync the directory of", url) }
  }

  private func write(_ state: Data, to draft: URL) throws {
    let descriptor = open(draft.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw Self.failure("create", draft) }
    defer { close(descriptor) }
    // A draft that is there already keeps its mode.
    guard fchmod(descriptor, 0o600) == 0 else { throw Self.failure("change the mode of", draft) }
    #if os(iOS) || os(watchOS) || os(tvOS) || os(visionOS)
      // A wake may come while the device is locked, so the file must be readable then.
      try FileManager.default.setAttributes(
        [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
        ofItemAtPath: draft.path)
    #endif
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    try handle.write(contentsOf: state)
    guard sync(descriptor) == 0 else { throw Self.failure("sync", draft) }
  }

  private static func failure(_ action: String, _ url: URL) -> RelayError {
    let reason = String(cString: strerror(errno))
    return RelayError(.badState, "cannot \(action) \(url.path): \(reason)")
  }
}

/// What tells one saved file from another at the same place.
private enum FileIdentity: Equatable {
  case absent
  case present(number: Int64, modified: Date?, bytes: Int64)

  init(_ url: URL) {
    // A file whose attributes cannot be read cannot be read or renamed either, which is reported.
    guard let found = try? FileManager.default.attributesOfItem(atPath: url.path) else {
      self = .absent
      return
    }
    self = .present(
      number: (found[.systemFileNumber] as? NSNumber)?.int64Value ?? 0,
      modified: found[.modificationDate] as? Date,
      bytes: (found[.size] as? NSNumber)?.int64Value ?? 0)
  }
}

/// The file that this client has read or saved last; nil before the first time.
private final class NewestFile: Sendable {
  private let lock = NSLock()
  // Every access holds the lock.
  nonisolated(unsafe) private var noted: FileIdentity?

  var identity: FileIdentity? { lock.withLock { noted } }
  func note(_ file: FileIdentity) { lock.withLock { noted = file } }
}

public import Foundation

/// The client's state in one file, which only the file's owner can read. Each save writes a
/// temporary file in the same directory, makes the temporary file durable, and renames it to the
/// state's file.
///
/// Two clients must not share a file, and neither must an app and its extension: each would store
/// tokens of pages that the other one has applied. The file has no lock, because iOS ends an app
/// that holds a lock while the app is suspended. Instead a save throws ``RelayError/Code/badState``
/// if another client has saved since this one has read or saved the file. Each client writes a
/// temporary file of its own, so that the file is always whole: of two saves at the same moment the
/// later one stays, and the other client learns of it at its next save.
public struct StateFile: StateStore {
  private let url: URL
  private let draft: URL
  private let newest = NewestFile()
  private let sync: @Sendable (Int32) -> Int32

  public init(_ url: URL) { self.init(url, sync: { fsync($0) }) }

  init(_ url: URL, sync: @escaping @Sendable (Int32) -> Int32) {
    (self.url, self.sync) = (url, sync)
    draft = url.appendingPathExtension(UUID().uuidString).appendingPathExtension("draft")
  }

  public func load() throws -> Data? {
    removeDrafts()
    // The file's identity is taken before the file is read, so that a save in between counts as
    // another client's save.
    let file = FileIdentity(url)
    let state = file == .absent ? nil : try Data(contentsOf: url)
    newest.note(file)
    return state
  }

  public func save(_ state: Data) throws {
    let file = FileIdentity(url)
    // A file that was removed is written anew.
    guard file == .absent || file == newest.identity ?? file else { throw otherClient }
    do {
      try write(state)
      let saved = FileIdentity(draft)
      guard rename(draft.path, url.path) == 0 else {
        // A client that was made meanwhile has removed the draft.
        throw errno == ENOENT ? otherClient : Self.failure("rename", draft)
      }
      newest.note(saved)
    } catch {
      // The draft is removed, because on a full disk it would take room that the next save needs.
      unlink(draft.path)
      throw error
    }
    // Without this sync a power loss may bring the old file back.
    let directory = open(url.deletingLastPathComponent().path, O_RDONLY)
    guard directory >= 0 else { throw Self.failure("open the directory of", url) }
    defer { close(directory) }
    guard sync(directory) == 0 else { throw Self.failure("sync the directory of", url) }
  }

  /// Removes the drafts that interrupted saves have left, also those of older versions, whose
  /// drafts had a fixed name.
  private func removeDrafts() {
    let directory = url.deletingLastPathComponent()
    let files = FileManager.default
    // A directory that cannot be read is reported by the next save.
    for name in (try? files.contentsOfDirectory(atPath: directory.path)) ?? []
    where name != draft.lastPathComponent && isDraft(name) {
      // A draft that cannot be removed takes room, and does no other harm.
      try? files.removeItem(at: directory.appendingPathComponent(name))
    }
  }

  private func isDraft(_ name: String) -> Bool {
    let (start, end) = ("\(url.lastPathComponent).", ".draft")
    if name.hasSameBytes(as: start + end.dropFirst()) { return true }
    guard name.hasPrefix(start), name.hasSuffix(end) else { return false }
    // A file of another client may have a name that begins alike.
    return UUID(uuidString: String(name.dropFirst(start.count).dropLast(end.count))) != nil
  }

  private var otherClient: RelayError {
    RelayError(
      .badState,
      "another client has saved \(url.path): give each client a file of its own, and make one "
        + "client for each installation of the app")
  }

  private func write(_ state: Data) throws {
    let descriptor = open(draft.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw Self.failure("create", draft) }
    defer { close(descriptor) }
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

/// What distinguishes one saved file from another at the same place.
private enum FileIdentity: Equatable {
  case absent
  case present(number: Int64, modified: Date?, bytes: Int64)

  init(_ url: URL) {
    // If the file exists but its attributes cannot be read, the next save fails and says why.
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

public import Foundation

/// The client's state in one file, which only its owner can read. Each save writes a temporary file
/// beside it, makes that durable, and renames it. Two processes must not share the file.
public struct StateFile: StateStore {
  private let url: URL

  public init(_ url: URL) { self.url = url }

  public func load() throws -> Data? {
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    return try Data(contentsOf: url)
  }

  public func save(_ state: Data) throws {
    let draft = url.appendingPathExtension("draft")
    try Self.write(state, to: draft)
    guard rename(draft.path, url.path) == 0 else { throw Self.failure("rename", draft) }
    // Without this sync a power loss may bring the old file back.
    let directory = open(url.deletingLastPathComponent().path, O_RDONLY)
    guard directory >= 0 else { throw Self.failure("open the directory of", url) }
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw Self.failure("sync the directory of", url) }
  }

  private static func write(_ state: Data, to draft: URL) throws {
    let descriptor = open(draft.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw failure("create", draft) }
    defer { close(descriptor) }
    // A draft that is there already keeps its mode.
    guard fchmod(descriptor, 0o600) == 0 else { throw failure("change the mode of", draft) }
    #if os(iOS) || os(watchOS) || os(tvOS) || os(visionOS)
      // A wake may come while the device is locked, so the file must be readable then.
      try FileManager.default.setAttributes(
        [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
        ofItemAtPath: draft.path)
    #endif
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    try handle.write(contentsOf: state)
    guard fsync(descriptor) == 0 else { throw failure("sync", draft) }
  }

  private static func failure(_ action: String, _ url: URL) -> RelayError {
    let reason = String(cString: strerror(errno))
    return RelayError(.badState, "cannot \(action) \(url.path): \(reason)")
  }
}

import Foundation
import RelayCore
import RelayEngine
import Synchronization

/// Gives one daemon exclusive use of a store's directory: an exclusive lock on its `lock` file,
/// which names the holder's process. The system releases the lock whenever the process ends.
final class StoreLock: Sendable {
  /// The lock file's descriptor; nil after the lock is released.
  private let descriptor: Mutex<Int32?>

  init(directory: String) throws(StoreError) {
    let path = directory + "/lock"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw StoreError(
        .unreadable,
        "cannot open \(path): \(Self.reason); let the daemon's user write in \(directory)")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let holder = Self.holder(descriptor)
      close(descriptor)
      throw StoreError(
        .inUse,
        "the store in \(directory) is used by another daemon (process \(holder)); "
          + "stop that one first, or give this one a store.directory of its own")
    }
    let bytes = Array("\(getpid())\n".utf8)
    // A failure is harmless: only the lock matters. The process's number in the file only helps
    // error messages and the doctor.
    _ = ftruncate(descriptor, 0) + Int32(pwrite(descriptor, bytes, bytes.count, 0))
    self.descriptor = Mutex(descriptor)
  }

  deinit { release() }

  func release() {
    descriptor.withLock { descriptor in
      if let descriptor { close(descriptor) }
      descriptor = nil
    }
  }

  static var reason: String { String(cString: strerror(errno)) }

  private static func holder(_ descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    return text.isEmpty ? "unknown" : text
  }
}

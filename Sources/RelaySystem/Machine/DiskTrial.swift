import Foundation
import Glibc

/// One trial of a directory's disk: the room on it, and a few bytes that were written and brought
/// to the disk (`fsync`), as the store does it.
package struct DiskTrial: Hashable, Sendable {
  package static let bytesWritten = 65_536
  /// The kernel's `O_TMPFILE`, a macro that Swift does not import: a file without a name.
  private static let unnamed = 0o20_000_000 | O_DIRECTORY

  /// The bytes that this user may still write; nil if the disk does not tell.
  package var free: Int64?
  /// The time of the write and the `fsync`.
  package var took: Duration
  /// The system's error number of the step that failed; nil if all bytes are on the disk.
  package var failure: Int32?

  /// The reason of a failure in the system's words.
  package var reason: String { failure.map { String(cString: strerror($0)) } ?? "" }

  /// Writes a file without a name, so that nothing stays even if the process is killed. On a disk
  /// that does not support files without a name, the file has a name for a moment.
  package static func run(in directory: String) -> DiskTrial {
    let clock = ContinuousClock()
    let begin = clock.now
    let failure = write(in: directory)
    return DiskTrial(free: free(on: directory), took: clock.now - begin, failure: failure)
  }

  private static func write(in directory: String) -> Int32? {
    var descriptor = open(directory, unnamed | O_WRONLY | O_CLOEXEC, 0o600)
    if descriptor < 0, [EOPNOTSUPP, EISDIR].contains(errno) {
      let name = "\(directory)/doctor-\(UUID().uuidString).tmp"
      descriptor = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
      if descriptor >= 0 { unlink(name) }
    }
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    let bytes = [UInt8](repeating: 0x5a, count: bytesWritten)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      guard count > 0 else { return errno }
      written += count
    }
    return fsync(descriptor) == 0 ? nil : errno
  }

  private static func free(on directory: String) -> Int64? {
    // A disk that tells no size is not reported as full; the write shows whether it is.
    let attributes = try? FileManager.default.attributesOfFileSystem(forPath: directory)
    return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value
  }
}

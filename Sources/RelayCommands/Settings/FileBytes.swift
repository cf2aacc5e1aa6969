import Foundation
import Glibc

/// Reads small files that settings name, as a whole.
enum FileBytes {
  /// The most bytes of a file. No valid secret, key or configuration is larger.
  static let bytesMax = 1 << 20

  /// - Throws: `ValueError` with the system's own reason.
  static func read(_ path: String) throws(ValueError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .unreadable(path, errno) }
    defer { close(descriptor) }
    // A pipe may have no end, /dev/zero has no end, and /dev/null holds nothing.
    guard isFile(path) else {
      throw ValueError("\(path) is not a file", remedy: "name a regular file")
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while bytes.count <= bytesMax {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      guard count >= 0 else { throw .unreadable(path, errno) }
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
    throw ValueError("\(path) is larger than 1 MiB", remedy: "name the right file")
  }

  /// True if the path names a regular file, or a link to one. Do not use `fstat`: in a release
  /// build the compiler may take another module for the owner of `stat`, and refuse this file.
  private static func isFile(_ path: String) -> Bool {
    let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    // An error is ignored: a file that the process may not look at does not count as regular.
    let attributes = try? FileManager.default.attributesOfItem(atPath: real)
    return attributes?[.type] as? FileAttributeType == .typeRegular
  }

  /// Reads a file as `read` does, without the final newline that editors add.
  static func secret(_ path: String) throws(ValueError) -> Secret {
    var bytes = try read(path)
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    return Secret(path: path, bytes: bytes)
  }
}

extension ValueError {
  fileprivate static func unreadable(_ path: String, _ code: Int32) -> ValueError {
    let reason = String(cString: strerror(code))
    let remedy =
      code == ENOENT
      ? "create the file, or correct the path"
      : "make the file readable for the user that the daemon runs as"
    return ValueError("\(path) cannot be read: \(reason)", remedy: remedy)
  }
}

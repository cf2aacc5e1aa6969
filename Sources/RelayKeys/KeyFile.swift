import Foundation
import RelayCore

/// A file that holds one key: 32 random bytes as 64 hexadecimal characters, with or without a final
/// newline. The newline may be a line feed, a carriage return, or both, as in every secret file.
struct KeyFile {
  static let keyBytes = 32

  let path: String

  func read() throws(KeyFailure) -> [UInt8] {
    let text = try text()
    guard text.utf8.count == Self.keyBytes * 2 else {
      throw failure("\(text.utf8.count) characters, not 64")
    }
    guard let bytes = Hex.bytes(text) else {
      throw failure("a character that is not a hexadecimal digit")
    }
    return bytes
  }

  private func text() throws(KeyFailure) -> String {
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      let code = (error as? CocoaError)?.code
      let found = code == .fileReadNoSuchFile ? "no such file" : "it cannot be read"
      throw KeyFailure(
        path: path, found: found,
        remedy: "put a key there, 64 hexadecimal characters, that the daemon's user may read")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw failure("\(data.count) bytes that are not text")
    }
    // Swift counts a carriage return and a line feed together as one character.
    return ["\n", "\r\n", "\r"].contains(text.last) ? String(text.dropLast()) : text
  }

  private func failure(_ found: String) -> KeyFailure {
    KeyFailure(
      path: path, found: found,
      remedy: "put back the key that was there, 64 hexadecimal characters, from a backup; only a "
        + "new file may get another one, such as `openssl rand -hex 32` prints")
  }

  /// Writes a new key to a draft, which is a file beside `path`. `keepDraft` renames the draft to
  /// `path`; until then `path` has no key.
  func draft(_ bytes: [UInt8]) throws(KeyFailure) {
    let text = Array((Hex.text(bytes) + "\n").utf8)
    let descriptor = open(draftPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw unwritable() }
    let isWritten =
      Foundation.write(descriptor, text, text.count) == text.count && fsync(descriptor) == 0
    close(descriptor)
    guard isWritten else { throw unwritable() }
  }

  /// Renames the draft to `path` and makes the new name durable. After a crash the file at `path`
  /// holds the whole key or does not exist.
  func keepDraft() throws(KeyFailure) {
    guard rename(draftPath, path) == 0 else { throw unwritable() }
    let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unwritable() }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw unwritable() }
  }

  var directory: String { (path as NSString).deletingLastPathComponent }

  private var draftPath: String { path + ".new" }

  func unwritable() -> KeyFailure {
    KeyFailure(
      path: path, found: "it cannot be written (\(String(cString: strerror(errno))))",
      remedy: "let \(directory) be a directory in which the daemon's user may write, and make room "
        + "on its disk")
  }
}

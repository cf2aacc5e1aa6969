import Foundation
import RelayKeys

/// Copies the store's key files: without them every change token of every client expires.
struct KeyCopies {
  var source: String
  var target: String

  /// Copies each file, readable by its owner only, and reads it back.
  ///
  /// - Returns: the number of keys, at least one.
  /// - Throws: `Failure`, `ValueError` or `KeyFailure` naming the file, also for a file that is not
  ///   a key: the daemon would not start from a backup with it.
  func run() throws -> Int {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: source).sorted()
    } catch {
      throw Failure(
        .failed, "the keys in \(source) cannot be read: \((error as NSError).localizedDescription)",
        hint: "start the daemon once, or run this as root or the user that the daemon runs as")
    }
    guard mkdir(target, 0o700) == 0 else { throw failed("make \(target)") }
    let keys = names.filter { $0.hasSuffix(".key") }
    for name in keys {
      try KeyRing.check(file: "\(source)/\(name)")
      try copy(name)
    }
    guard !keys.isEmpty else {
      throw Failure(
        .failed, "there is no key in \(source)", hint: "a daemon makes it at its first start")
    }
    return keys.count
  }

  private func copy(_ name: String) throws {
    let (from, to) = ("\(source)/\(name)", "\(target)/\(name)")
    let bytes = try FileBytes.read(from)
    let descriptor = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failed("make \(to)") }
    defer { close(descriptor) }
    guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
      throw failed("write \(to)")
    }
    guard try FileBytes.read(to) == bytes else {
      throw Failure(.failed, "\(to) is not what was written", hint: "look at its disk")
    }
  }

  private func failed(_ what: String) -> Failure {
    Failure(
      .failed, "cannot \(what): \(String(cString: strerror(errno)))",
      hint: "make room on its disk")
  }
}

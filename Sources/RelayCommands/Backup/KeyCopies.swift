import Foundation
import RelayKeys

/// Copies the store's key files: without them every change token of every client expires.
struct KeyCopies {
  var source: String
  var target: String

  /// Copies each file, readable by its owner only, and reads it back.
  ///
  /// - Returns: the number of keys, at least one.
  /// - Throws: `Failure` or `KeyFailure` naming the file, also for a file that is not a key: the
  ///   daemon would not start from a backup with it.
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
    var count = 0
    for name in names where name.hasSuffix(".key") {
      try KeyRing.check(file: "\(source)/\(name)")
      try copy(name)
      count += 1
    }
    guard count > 0 else {
      throw Failure(
        .failed, "there is no key in \(source)", hint: "a daemon makes it at its first start")
    }
    return count
  }

  private func copy(_ name: String) throws {
    let (from, to) = ("\(source)/\(name)", "\(target)/\(name)")
    do throws(ValueError) {
      let bytes = try FileBytes.read(from)
      let descriptor = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw wrong("make \(to)") }
      defer { close(descriptor) }
      guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
        throw wrong("write \(to)")
      }
      guard try FileBytes.read(to) == bytes else {
        throw ValueError("\(to) is not what was written", remedy: "look at its disk")
      }
    } catch {
      throw Failure(.failed, error.cause, hint: error.remedy)
    }
  }

  private func wrong(_ what: String) -> ValueError {
    ValueError(
      "cannot \(what): \(String(cString: strerror(errno)))", remedy: "make room on its disk")
  }

  private func failed(_ what: String) -> Failure {
    let wrong = wrong(what)
    return Failure(.failed, wrong.cause, hint: wrong.remedy)
  }
}

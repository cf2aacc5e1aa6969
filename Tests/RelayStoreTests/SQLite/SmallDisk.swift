import Foundation
import Testing

/// A file system of 16 MiB in the mount namespace of a child process. Only the child sees the file
/// system, which ends with the child.
enum SmallDisk {
  /// A small disk that is mounted already.
  static var path: String? { ProcessInfo.processInfo.environment["ZONERELAY_DISK"] }

  /// Root may mount, unless a container forbids it.
  static let canMount: Bool = {
    guard geteuid() == 0 else { return false }
    let directory = FileManager.default.temporaryDirectory.path
    let process = child(mountedAt: directory, ["true"])
    do {
      try process.run()
      process.waitUntilExit()
      return process.terminationStatus == 0
    } catch {
      return false
    }
  }()

  /// The small disk of this process. If there is none, runs the test in a child process that has
  /// one, and expects that the test passes there.
  ///
  /// - Returns: nil if a child process ran the test.
  static func disk(for test: String) async throws -> String? {
    if let path { return path }
    let (status, words) = try await run(test: test)
    #expect(status == 0, "\(words)")
    #expect(words.contains("Test run with 1 test "), "\(words)")
    return nil
  }

  /// Runs one test of this program with a small disk.
  ///
  /// - Returns: the exit status and the output.
  private static func run(test: String) async throws -> (status: Int32, words: String) {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("zonerelay-disk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    // A temporary directory that is left behind does no harm.
    defer { try? FileManager.default.removeItem(at: directory) }
    let words = directory.appendingPathExtension("log")
    try Data().write(to: words)
    defer { try? FileManager.default.removeItem(at: words) }
    let log = try FileHandle(forWritingTo: words)
    let process = child(
      mountedAt: directory.path,
      [CommandLine.arguments[0], "--testing-library", "swift-testing", "--filter", test])
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["ZONERELAY_DISK": directory.path]
    ) { $1 }
    process.standardOutput = log
    process.standardError = log
    try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in ended.resume() }
      do { try process.run() } catch { ended.resume(throwing: error) }
    }
    return (process.terminationStatus, try String(contentsOf: words, encoding: .utf8))
  }

  /// Writes a file `ballast` until there is no room for one more byte.
  static func fill(_ disk: String) throws {
    let ballast = open(disk + "/ballast", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(ballast) }
    let page = [UInt8](repeating: 7, count: 4_096)
    while write(ballast, page, page.count) == page.count {}
  }

  /// Makes the disk read-only (`ro`) or writable again (`rw`).
  static func remount(_ disk: String, _ mode: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/mount")
    process.arguments = ["-o", "remount,\(mode)", disk]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "the disk is not remounted \(mode)")
  }

  private static func child(mountedAt directory: String, _ command: [String]) -> Process {
    let child = Process()
    child.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
    let mount = #"mount -t tmpfs -o size=16m none "$1" && shift && exec "$@""#
    child.arguments =
      ["--mount", "--propagation", "private", "sh", "-c", mount, "sh", directory] + command
    child.standardInput = FileHandle.nullDevice
    return child
  }
}

import Foundation
import NIOPosix
import Synchronization

/// The environment of a run: a directory of its own, one event loop, and the started programs.
/// `close` stops the programs by their pids and removes the directory.
final class Workbench: Sendable {
  let options: BenchOptions
  let directory: URL
  /// A group of one loop, so that the load generator uses at most one core: the goals are measured
  /// on two cores, and the measured program needs the other one.
  let group: MultiThreadedEventLoopGroup
  private let state = Mutex(State())

  private struct State {
    var children: [Child] = []
    var isClosed = false
  }

  init(_ options: BenchOptions) throws {
    self.options = options
    directory = URL(fileURLWithPath: options.scratch)
      .appendingPathComponent("zonerelay-bench-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  }

  func file(_ name: String) -> URL { directory.appendingPathComponent(name) }

  /// Makes an empty directory in the run's directory. Removes what an earlier measurement has left
  /// under this name.
  func emptyDirectory(_ name: String) throws -> URL {
    let directory = file(name)
    if FileManager.default.fileExists(atPath: directory.path) {
      try FileManager.default.removeItem(at: directory)
    }
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    return directory
  }

  /// Starts a program, with its output in `name.out` and `name.err` in the run's directory.
  func start(_ path: String, _ arguments: [String], name: String) throws -> Child {
    try state.withLock { state in
      guard !state.isClosed else { throw BenchError("interrupted") }
      let child = try Child(
        path, arguments, output: file("\(name).out"), errors: file("\(name).err"))
      state.children.append(child)
      return child
    }
  }

  /// Runs a program to its end. Throws unless it succeeds.
  func run(_ path: String, _ arguments: [String], name: String) async throws -> Child.Ended {
    let child = try start(path, arguments, name: name)
    let ended = try await child.wait(within: .seconds(120))
    guard ended.status == 0 else {
      throw BenchError("\(path) ended with \(ended.status): \(child.said.suffix(2_000))")
    }
    return ended
  }

  /// Stops all programs and removes the run's directory. A second call is safe: it waits for the
  /// first call.
  ///
  /// - Parameter status: if set, this call ends the bench with this exit status and does not
  ///   return.
  func close(ending status: Int32? = nil) {
    state.withLock { state in
      state.isClosed = true
      for child in state.children.reversed() { child.stopNow() }
      state.children = []
      // The system cleans up a directory that cannot be removed; the figures are complete.
      try? FileManager.default.removeItem(at: directory)
      if let status { exit(status) }
    }
  }
}

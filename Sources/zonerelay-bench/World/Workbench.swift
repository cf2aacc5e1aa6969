import Foundation
import NIOPosix
import Synchronization

/// Where a run takes place: a directory of its own, one event loop, and the programs it started.
/// `close` stops them by their pids and removes the directory.
final class Workbench: Sendable {
  let options: BenchOptions
  let directory: URL
  /// One loop: the load generator must not take both cores from what it measures.
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

  /// Makes an empty directory inside; what an earlier pair left there is removed.
  func emptyDirectory(_ name: String) throws -> URL {
    let directory = file(name)
    if FileManager.default.fileExists(atPath: directory.path) {
      try FileManager.default.removeItem(at: directory)
    }
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    return directory
  }

  /// Starts a program; its output goes to `name.out` and `name.err` inside.
  func start(_ path: String, _ arguments: [String], name: String) throws -> Child {
    try state.withLock { state in
      guard !state.isClosed else { throw Trouble("interrupted") }
      let child = try Child(
        path, arguments, output: file("\(name).out"), errors: file("\(name).err"))
      state.children.append(child)
      return child
    }
  }

  /// Runs a program to its end, which must be a good one.
  func run(_ path: String, _ arguments: [String], name: String) async throws -> Child.Ended {
    let child = try start(path, arguments, name: name)
    let ended = try await child.wait(within: .seconds(120))
    guard ended.status == 0 else {
      throw Trouble("\(path) ended with \(ended.status): \(child.said.suffix(2_000))")
    }
    return ended
  }

  /// Safe to call twice: the second caller waits for the first.
  ///
  /// - Parameter status: the program ends with it, before anybody else who closes comes back.
  func close(ending status: Int32? = nil) {
    state.withLock { state in
      state.isClosed = true
      for child in state.children.reversed() { child.stopNow() }
      state.children = []
      // A directory that cannot be removed is the system's to clean; the figures are taken.
      try? FileManager.default.removeItem(at: directory)
      if let status { exit(status) }
    }
  }
}

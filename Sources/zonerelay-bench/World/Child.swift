import Foundation
import NIOPosix
import Synchronization

/// A program that the bench started: its pid, its cost and its end.
final class Child: Sendable {
  let pid: pid_t
  private let path: String
  private let output: URL
  private let errors: URL
  /// Set when the process is reaped; afterwards the system may reuse its pid.
  private let end = Mutex<Ended?>(nil)

  struct Ended: Sendable {
    /// The exit code, or 128 + the number of the signal that ended the process.
    var status: Int32
    var cpu: CPUTime
  }

  init(_ path: String, _ arguments: [String], output: URL, errors: URL) throws {
    self.path = path
    (self.output, self.errors) = (output, errors)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    let flags = O_WRONLY | O_CREAT | O_TRUNC
    posix_spawn_file_actions_addopen(&actions, 1, output.path, flags, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, errors.path, flags, 0o600)
    // The bench ignores the signals that it handles itself, and its threads block them. A child
    // that inherited these settings could not be stopped.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var reset = sigset_t()
    sigemptyset(&reset)
    sigaddset(&reset, SIGINT)
    sigaddset(&reset, SIGTERM)
    posix_spawnattr_setsigdefault(&attributes, &reset)
    var unblocked = sigset_t()
    sigemptyset(&unblocked)
    posix_spawnattr_setsigmask(&attributes, &unblocked)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var arguments = ([path] + arguments).map { strdup($0) } + [nil]
    let variables = ProcessInfo.processInfo.environment.sorted { $0.key < $1.key }
    var environment = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in arguments + environment { free(text) } }
    var pid = pid_t()
    let code = posix_spawn(&pid, path, &actions, &attributes, &arguments, &environment)
    guard code == 0 else {
      throw BenchError("\(path) cannot be started: \(String(cString: strerror(code)))")
    }
    self.pid = pid
  }

  /// The process's stdout so far.
  var text: String { Self.read(output) }
  /// The process's stdout and stderr so far.
  var said: String { Self.read(output) + Self.read(errors) }

  /// The CPU time so far, of a process that still runs.
  func cpu() throws -> CPUTime { try CPUTime.of(pid) }

  var hasEnded: Bool { reap() != nil }

  /// Waits for the end. A process that takes too long is stopped, and the method throws an error.
  func wait(within limit: Duration) async throws -> Ended {
    try await NIOThreadPool.singleton.runIfActive { [self] in
      if let ended = poll(until: .now + limit) { return ended }
      stopNow()
      throw BenchError("\(path) did not end within \(limit.components.seconds) s")
    }
  }

  /// Sends SIGTERM and waits. A process that does not end in time is killed, and the method throws
  /// an error.
  func stop() async throws -> Ended {
    Foundation.kill(pid, SIGTERM)
    return try await wait(within: .seconds(20))
  }

  /// Ends the process at once, as a power failure would.
  func kill() async throws {
    Foundation.kill(pid, SIGKILL)
    _ = try await wait(within: .seconds(20))
  }

  /// Ends the process for cleanup: by SIGTERM and, if it still runs after 5 s, by SIGKILL. Errors
  /// are ignored.
  func stopNow() {
    guard reap() == nil else { return }
    Foundation.kill(pid, SIGTERM)
    if poll(until: .now + .seconds(5)) != nil { return }
    Foundation.kill(pid, SIGKILL)
    _ = poll(until: .now + .seconds(5))
  }

  private func poll(until deadline: ContinuousClock.Instant) -> Ended? {
    while true {
      if let ended = reap() { return ended }
      guard .now < deadline else { return nil }
      usleep(2_000)
    }
  }

  private func reap() -> Ended? {
    end.withLock { end in
      if let end { return end }
      var status: Int32 = 0
      var usage = rusage()
      guard wait4(pid, &status, WNOHANG, &usage) == pid else { return nil }
      let signal = status & 0x7f
      let code = signal == 0 ? status >> 8 & 0xff : 128 + signal
      end = Ended(status: code, cpu: CPUTime(usage))
      return end
    }
  }

  private static func read(_ file: URL) -> String {
    // A file that cannot be read counts as empty.
    (try? String(contentsOf: file, encoding: .utf8)) ?? ""
  }
}

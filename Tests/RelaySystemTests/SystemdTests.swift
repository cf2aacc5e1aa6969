import Foundation
import Glibc
import RelayCore
import RelayEngine
import RelaySystem
import Testing

/// The systemd protocol uses environment variables, so each test has a process of its own.
@Suite struct SystemdTests {
  @Test func `systemd receives messages in order and a repeated status once`() async {
    await #expect(processExitsWith: .success) {
      let inbox = try NotifyInbox()
      setenv("WATCHDOG_USEC", "40000000", 1)
      let notifier = SystemdNotifier()
      let service: any ServiceNotifier = notifier
      service.waiting("no room")
      service.status("reading\nthe journal")
      service.status("reading\nthe journal")
      service.ready()
      service.beat()
      service.beat()
      notifier.reloading()
      service.ready()
      service.stopping(grace: .seconds(302))
      var messages: [String] = []
      for _ in 1...8 { messages.append(try inbox.next()) }
      let reload = messages.remove(at: 5)
      try #require(
        messages == [
          // A start that waits asks for more time at each try, so systemd does not end it.
          "STATUS=no room", "EXTEND_TIMEOUT_USEC=300000000",
          "STATUS=reading the journal", "READY=1", "WATCHDOG=1", "READY=1",
          // The notifier asks for the grace period and half a minute more, even if the unit's stop
          // timeout is shorter.
          "STOPPING=1\nEXTEND_TIMEOUT_USEC=332000000",
        ])
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      let lines = reload.split(separator: "\n")
      try #require(lines.first == "RELOADING=1")
      let microseconds = Int64(lines[1].dropFirst("MONOTONIC_USEC=".count)) ?? 0
      let now = Int64(time.tv_sec) * 1_000_000
      try #require((now - 60_000_000...now + 1_000_000).contains(microseconds))
      try #require(inbox.isEmpty)
    }
  }

  @Test func `without systemd the notifier sends nothing and does not fail`() async {
    await #expect(processExitsWith: .success) {
      for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS"] {
        unsetenv(name)
      }
      let notifier = SystemdNotifier()
      notifier.ready()
      notifier.status("idle")
      notifier.beat()
      notifier.stopping(grace: .zero)
      try #require(SystemdNotifier.watchdogInterval == nil)
      try #require(try ListenSockets.inherited() == .none)
      try #require(LogOutput.detected() != .journal)
    }
  }

  @Test func `the watchdog interval of another process is ignored`() async {
    await #expect(processExitsWith: .success) {
      setenv("WATCHDOG_USEC", "30000000", 1)
      setenv("WATCHDOG_PID", "\(getpid())", 1)
      try #require(SystemdNotifier.watchdogInterval == Span.seconds(30))
      setenv("WATCHDOG_PID", "1", 1)
      try #require(SystemdNotifier.watchdogInterval == nil)
    }
  }

  /// The loop and the notifier each delay a beat by at most a quarter of the watchdog's interval.
  /// So the watchdog waits for at most half an interval between two beats.
  @Test func `beats are a quarter of the watchdog interval apart, at most a second`() async {
    await #expect(processExitsWith: .success) {
      setenv("WATCHDOG_USEC", "2000000", 1)
      try #require(SystemdNotifier().beatEvery == Span(milliseconds: 500))
      setenv("WATCHDOG_USEC", "60000000", 1)
      try #require(SystemdNotifier().beatEvery == Span.seconds(1))
      unsetenv("WATCHDOG_USEC")
      try #require(SystemdNotifier().beatEvery == Span.seconds(1))
    }
  }

  @Test func `inherited sockets are found by name and taken once`() async {
    await #expect(processExitsWith: .success) {
      // In the test process descriptor 3 may be open already; then the test does not replace that
      // descriptor. The test never closes descriptor 3.
      let spare = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      if fcntl(3, F_GETFD) < 0 { dup2(spare, 3) }
      setenv("LISTEN_PID", "\(getpid())", 1)
      setenv("LISTEN_FDS", "1", 1)
      setenv("LISTEN_FDNAMES", "api", 1)
      let sockets = try ListenSockets.inherited()
      try #require(sockets.descriptors == ["api": [3]] && sockets["api"] == [3])
      try #require(sockets["metrics"].isEmpty)
      try #require(try ListenSockets.inherited() == .none)
    }
  }

  @Test func `sockets of one name keep their order, and a bad LISTEN_FDS is refused`()
    async
  {
    await #expect(processExitsWith: .success) {
      setenv("LISTEN_PID", "\(getpid())", 1)
      setenv("LISTEN_FDS", "many", 1)
      try #require(throws: SystemError.self) { try ListenSockets.inherited() }
      let spare = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      for descriptor in Int32(3)...5 where fcntl(descriptor, F_GETFD) < 0 {
        dup2(spare, descriptor)
      }
      setenv("LISTEN_PID", "\(getpid())", 1)
      setenv("LISTEN_FDS", "3", 1)
      setenv("LISTEN_FDNAMES", "api:other:api", 1)
      let sockets = try ListenSockets.inherited()
      try #require(sockets.descriptors == ["api": [3, 5], "other": [4]])
    }
  }

  @Test func `the daemon detects that standard error leads to the systemd journal`() async {
    await #expect(processExitsWith: .success) {
      setenv("JOURNAL_STREAM", ErrorStream.identity, 1)
      try #require(LogOutput.detected() == .journal)
      setenv("JOURNAL_STREAM", "1:2", 1)
      try #require(LogOutput.detected() != .journal)
    }
  }

  @Test func `the clocks give the wall time and the time since boot in milliseconds`() throws {
    let clock = SystemClock()
    let wall = Int64(Date().timeIntervalSince1970 * 1_000)
    #expect(abs(clock.wall().milliseconds - wall) < 60_000)
    let uptime = try String(contentsOfFile: "/proc/uptime", encoding: .utf8)
    let seconds = try #require(Double(uptime.prefix { $0 != " " }))
    #expect(abs(Double(clock.boot().milliseconds) / 1_000 - seconds) < 60)

  }
}

/// A datagram socket that receives in systemd's place; `NOTIFY_SOCKET` names the socket.
private struct NotifyInbox {
  private let descriptor: Int32

  init() throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    let path = "/tmp/zonerelay-notify-\(getpid()).sock"
    unlink(path)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0)
    setenv("NOTIFY_SOCKET", path, 1)
  }

  var isEmpty: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) < 0
  }

  func next() throws -> String {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    try #require(count > 0)
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}

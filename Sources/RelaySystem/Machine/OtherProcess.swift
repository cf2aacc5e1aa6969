import Foundation

/// Another process of this machine, as `/proc` shows it (see `proc(5)`). What this process may not
/// see is nil or empty.
package struct OtherProcess: Sendable {
  package let pid: Int32

  package init(_ pid: Int32) { self.pid = pid }

  /// The name of the process's program.
  package var name: String? { text("comm").map { $0.trimmingCharacters(in: .newlines) } }

  /// The user whose rights the process has.
  package var user: SystemUser? { text("status").flatMap { Self.user(in: $0) } }

  /// True if the process has ended and its parent has not asked for its status yet (a zombie).
  package var hasEnded: Bool { text("status").map { Self.hasEnded(in: $0) } ?? false }

  /// How many files the process may have open at most.
  package var openFilesMax: Int? { text("limits").flatMap { Self.openFilesMax(in: $0) } }

  /// True if systemd gave the process sockets at its start (`sd_listen_fds(3)`).
  package var hasInheritedSockets: Bool {
    let variables = text("environ")?.split(separator: "\0") ?? []
    return variables.contains { $0 == "LISTEN_PID=\(pid)" }
  }

  /// True if the process has one of these sockets open.
  package func holds(_ sockets: Set<String>) -> Bool { !self.sockets.isDisjoint(with: sockets) }

  /// What the links in `/proc/PID/fd` point to: each file that the process has open, sockets among
  /// them.
  var sockets: Set<String> {
    let place = "/proc/\(pid)/fd"
    // The directory cannot be read if the process has ended or belongs to another user.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
    return Set(
      names.compactMap { name in
        // A file that was closed meanwhile is not held.
        try? FileManager.default.destinationOfSymbolicLink(atPath: "\(place)/\(name)")
      })
  }

  private func text(_ file: String) -> String? {
    // The file cannot be read if the process has ended, or if this user may not look at it.
    try? String(contentsOfFile: "/proc/\(pid)/\(file)", encoding: .utf8)
  }

  /// Reads the effective ids of `/proc/PID/status`.
  static func user(in status: String) -> SystemUser? {
    func numbers(_ name: String) -> [Int]? {
      let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
      return line.map { $0.dropFirst(name.count + 1).split { $0 == "\t" || $0 == " " } }
        .map { $0.compactMap { Int($0) } }
    }
    guard let users = numbers("Uid"), users.count == 4, let groups = numbers("Gid"),
      groups.count == 4
    else { return nil }
    var user = SystemUser(id: users[1], primaryGroup: groups[1])
    user.groups = Set([groups[1]] + (numbers("Groups") ?? []))
    return user
  }

  /// Reads the state of `/proc/PID/status`.
  static func hasEnded(in status: String) -> Bool {
    status.split(separator: "\n").contains { $0.hasPrefix("State:\tZ") }
  }

  /// Reads the hard limit of `/proc/PID/limits`.
  static func openFilesMax(in limits: String) -> Int? {
    let line = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
    let words = line?.dropFirst("Max open files".count).split(separator: " ") ?? []
    guard words.count >= 2 else { return nil }
    return words[1] == "unlimited" ? .max : Int(words[1])
  }
}

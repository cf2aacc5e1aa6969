import Foundation
import Testing

/// systemd's own tools check the unit files.
@Suite(.enabled(if: UnitFiles.isJudged, "no /usr/bin/systemd-analyze on this machine"))
struct UnitFileTests {
  /// `systemd-analyze verify` exits with 0 for an unknown key too, so its output must be empty.
  @Test func `systemd-analyze accepts every line of the unit files`() throws {
    try UnitFiles.inCopy { directory in
      let verdict = try UnitFiles.run(
        "/usr/bin/systemd-analyze", "verify", "\(directory)/zonerelay.service",
        "\(directory)/zonerelay.socket")
      #expect(verdict.status == 0)
      #expect(verdict.output == "")
      let path = "\(directory)/zonerelay.service"
      let text = try String(contentsOfFile: path, encoding: .utf8)
      try (text + "\n[Service]\nNoSuchKey=yes\n")
        .write(toFile: path, atomically: true, encoding: .utf8)
      let control = try UnitFiles.run("/usr/bin/systemd-analyze", "verify", path)
      #expect(control.output.contains("NoSuchKey"))
    }
  }

  @Test func `the service's sandbox has an exposure score of 2.5 or less`() throws {
    try UnitFiles.inCopy { directory in
      let verdict = try UnitFiles.run(
        "/usr/bin/systemd-analyze", "security", "--offline=true", "--threshold=25", "--no-pager",
        "\(directory)/zonerelay.service")
      #expect(verdict.status == 0, "\(verdict.output)")
      let control = try UnitFiles.run(
        "/usr/bin/systemd-analyze", "security", "--offline=true", "--threshold=1", "--no-pager",
        "\(directory)/zonerelay.service")
      #expect(control.status != 0)
    }
  }

  @Test(.enabled(if: UnitFiles.has("/usr/bin/systemd-sysusers"), "no systemd-sysusers here"))
  func `systemd-sysusers can create the service's user`() throws {
    let verdict = try UnitFiles.run(
      "/usr/bin/systemd-sysusers", "--dry-run", "\(UnitFiles.directory)/zonerelay.sysusers")
    #expect(verdict.status == 0, "\(verdict.output)")
  }

  @Test func `the unit files contain every line that the contract names`() throws {
    let service = try UnitFiles.lines("zonerelay.service")
    for line in [
      "Type=notify", "User=zonerelay", "RestartPreventExitStatus=78",
      "ExecStartPre=/usr/bin/zonerelay check --config /etc/zonerelay/zonerelay.yaml",
      "ExecStart=/usr/bin/zonerelay serve --config /etc/zonerelay/zonerelay.yaml",
      "ExecReload=/bin/kill -HUP $MAINPID", "StateDirectory=zonerelay",
      "RuntimeDirectory=zonerelay", "Restart=on-failure",
      // The limit allows 60,000 connections, of which 50,000 may be couriers, and the daemon's
      // files.
      "LimitNOFILE=65536",
      // The engine's threads raise their priority.
      "LimitNICE=-10", "SystemCallFilter=setpriority",
    ] {
      #expect(service.contains(line))
    }
    let socket = try UnitFiles.lines("zonerelay.socket")
    #expect(socket.contains("ListenStream=127.0.0.1:8460"))
    #expect(socket.contains("FileDescriptorName=api"))
  }
}

enum UnitFiles {
  /// `systemd/` of this repository.
  static let directory = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "systemd").path()

  static var isJudged: Bool { has("/usr/bin/systemd-analyze") }

  static func has(_ tool: String) -> Bool { FileManager.default.isExecutableFile(atPath: tool) }

  static func lines(_ unit: String) throws -> [String] {
    try String(contentsOfFile: "\(directory)/\(unit)", encoding: .utf8)
      .split(separator: "\n").map(String.init)
  }

  /// Runs `body` on copies of the unit files that name an existing program, because systemd
  /// complains about a missing program.
  static func inCopy(_ body: (String) throws -> Void) throws {
    let copy = FileManager.default.temporaryDirectory
      .appending(path: "zonerelay-units-\(UUID().uuidString)").path()
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    defer {
      // A copy that stays in the temporary directory does no harm.
      try? FileManager.default.removeItem(atPath: copy)
    }
    for unit in ["zonerelay.service", "zonerelay.socket"] {
      try String(contentsOfFile: "\(directory)/\(unit)", encoding: .utf8)
        .replacing("/usr/bin/zonerelay", with: "/bin/true")
        .write(toFile: "\(copy)/\(unit)", atomically: true, encoding: .utf8)
    }
    try body(copy)
  }

  /// Runs a tool and collects all its output.
  static func run(_ tool: String, _ arguments: String...) throws -> (status: Int32, output: String)
  {
    let process = Process()
    process.executableURL = URL(filePath: tool)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
  }
}

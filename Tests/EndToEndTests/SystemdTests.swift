import Foundation
import Testing

/// The unit files, unchanged, under a real systemd that is process 1 of its own namespaces.
@Suite(.serialized) struct SystemdTests {
  private static var fixtures: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")
  }

  /// Covers the start by the socket, READY and STATUS; a reload that keeps all polls, streams, kept
  /// connections and connections to a provider; a stuck daemon that the watchdog kills, and whose
  /// restart loses nothing acknowledged; a clean stop.
  @Test func `the unit files run under a real systemd`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let script = try Program(
      [
        Self.fixtures.appendingPathComponent("systemd-namespace.sh").path, Program.binary.path,
      ], in: workplace, name: "systemd", program: URL(fileURLWithPath: "/bin/bash"))
    let ended = await script.wait()
    let text = ended.output + ended.errors
    if ended.status == 77 {
      print("skipped: a real systemd in a namespace: \(text)")
      return
    }
    #expect(ended.status == 0, "\(text)")
  }

  /// Connections to a socket of systemd that the daemon does not serve would wait without end, so
  /// the daemon refuses to start.
  @Test(arguments: ["web", "api:metrics"])
  func `the daemon refuses an inherited socket with an unknown name`(_ names: String) async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    let other = names.split(separator: ":").last ?? ""
    let start = """
      exec 3</dev/null 4</dev/null
      LISTEN_PID=$$ LISTEN_FDS=$2 LISTEN_FDNAMES=$3 exec "$0" serve --config "$1"
      """
    let program = try Program(
      [
        "-c", start, Program.binary.path, workplace.configPath,
        "\(names.split(separator: ":").count)", names,
      ], in: workplace, name: "named", program: URL(fileURLWithPath: "/bin/sh"))
    let ended = await program.wait(seconds: 20)
    #expect(ended.status == 1)
    #expect(ended.errors.contains("zonerelay: error: "), "\(ended.errors)")
    #expect(ended.errors.contains("a socket named \(other)"), "\(ended.errors)")
    #expect(ended.errors.contains("FileDescriptorName=api"), "\(ended.errors)")
  }
}

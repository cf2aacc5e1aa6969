import Foundation
import Testing

/// The unit files, unchanged, under a real systemd that is process 1 of its own namespaces.
@Suite(.serialized) struct SystemdTests {
  private static var fixtures: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")
  }

  /// Started by its socket, READY, STATUS; a reload that drops no poll, stream, kept connection or
  /// connection to a provider; a stuck daemon killed by the watchdog, started again, and nothing
  /// acknowledged lost; a clean stop.
  @Test func aRealSystemdRunsTheUnits() async throws {
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
}

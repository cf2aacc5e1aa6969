import Foundation
import Testing

/// The sample for app teams, `make notes` without a terminal.
@Suite struct NotesTests {
  private static let binary = Program.binary.deletingLastPathComponent()
    .appendingPathComponent("zonerelay-notes")

  @Test func `the sample plays its script and finds all phones equal`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let ended = await (try Self.start(in: workplace, "exec \"$0\"")).wait(seconds: 240)
    #expect(ended.status == 0, "\(ended.output) \(ended.errors)")
    for line in [
      "Alice's tablet shows Shopping: milk (",
      "Bob's phone shows Shopping: milk (",
      "The tablet's file keeps 1 edit.",
      "Alice's tablet shows Shopping: milk and eggs / milk and bread (",
      "Bob's phone shows Books: one (",
      "Alice's tablet shows no Books (",
      "All phones equal the server, which has 2 notes (",
    ] {
      #expect(ended.output.contains(line), "\(line) is not in:\n\(ended.output)")
    }
    #expect(try Self.left(in: workplace).isEmpty)
  }

  @Test func `an interrupted sample stops its relay and leaves nothing`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let program = try Self.start(in: workplace, "exec \"$0\"")
    #expect(
      await Pause.until { program.output.contains("are running") || !program.isRunning })
    program.signal(SIGTERM)
    let ended = await program.wait()
    #expect(ended.status == 1)
    #expect(ended.errors.contains("zonerelay-notes: error: interrupted"))
    #expect(try Self.left(in: workplace).isEmpty)
    let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter {
      // A process that has ended meanwhile has no command line.
      let line = try? String(contentsOfFile: "/proc/\($0)/cmdline", encoding: .utf8)
      return line?.contains(workplace.directory.path) == true
    }
    #expect(processes.isEmpty, "the relay still runs")
  }

  @Test func `without the relay's binary the sample says so`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let ended = await
      (try Self.start(in: workplace, "NOTES_RELAY=/nonexistent/zonerelay exec \"$0\"")).wait()
    #expect(ended.status == 1)
    #expect(ended.errors.contains("zonerelay-notes: error:"))
    #expect(try Self.left(in: workplace).isEmpty)
  }

  /// The sample makes its folder in the workplace.
  private static func start(in workplace: Workplace, _ command: String) throws -> Program {
    try Program(
      ["-c", "export TMPDIR='\(workplace.directory.path)'; \(command)", binary.path], in: workplace,
      name: "notes", program: URL(fileURLWithPath: "/bin/sh"))
  }

  private static func left(in workplace: Workplace) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: workplace.directory.path)
      .filter { $0.hasPrefix("zonerelay-notes-") }
  }
}

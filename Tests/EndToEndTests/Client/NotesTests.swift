import Foundation
import Testing

/// The sample for app teams, as `make notes` runs it, but without a terminal.
@Suite struct NotesTests {
  private static let binary = Program.binary.deletingLastPathComponent()
    .appendingPathComponent("zonerelay-notes")

  @Test func `the sample plays its script and finds all phones equal`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let ended = await (try Self.start(in: workplace, "exec \"$0\"")).wait(seconds: 240)
    #expect(ended.status == 0, "\(ended.output) \(ended.errors)")
    let last =
      #"All phones equal the record server, also after expired tokens: "#
      + #"["Sunday at 9", "milk and eggs\nmilk and bread"]"#
    #expect(ended.output.hasSuffix("\(last)\n"), "\(ended.output)")
    #expect(try Self.left(in: workplace).isEmpty)
  }

  /// The reader of the sample's output leaves after the first line. When the signal comes, the
  /// relay's process is paused, and a phone's folder still gets new files, as from a client that
  /// saves its state.
  @Test func `an interrupted sample ends its relay and leaves nothing`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let saving = """
      until [ -d "$phone" ]; do phone=$(echo zonerelay-notes-*/"phone 3"); done
      n=0; while [ $n -lt 50000 ] && echo >"$phone/$n"; do n=$((n + 1)); done
      """
    let program = try Self.start(
      in: workplace,
      """
      cd $TMPDIR; mkfifo out; head -n 1 out >/dev/null & { \(saving)
      } 2>/dev/null & exec "$0" >out
      """)
    let isPlaying = await Pause.until {
      (try? Self.left(in: workplace).first).flatMap { $0 }.map {
        let notes = workplace.file($0).appendingPathComponent("phone 3/notes.json")
        return FileManager.default.fileExists(atPath: notes.path)
      } == true || !program.isRunning
    }
    #expect(isPlaying)
    for relay in try Self.processes(in: workplace) { kill(relay, SIGSTOP) }
    program.signal(SIGTERM)
    let ended = await program.wait(seconds: 20)
    #expect(ended.status == 1)
    #expect(ended.errors.contains("zonerelay-notes: error: interrupted"))
    #expect(try Self.left(in: workplace).isEmpty)
    #expect(try Self.processes(in: workplace).isEmpty, "the relay still runs")
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

  /// The sample chooses its ports by its process id. So a program takes one of these ports and then
  /// becomes the sample: the process id stays the same, and the port stays taken.
  @Test(arguments: [0, 1])
  func `the sample says which port is taken and what helps`(port: Int) async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let holder = """
      import os, socket, sys
      port = 10000 + os.getpid() % 10000 * 2 + \(port)
      server = socket.create_server(("127.0.0.1", port))
      server.set_inheritable(True)
      os.execv(sys.argv[1], sys.argv[1:])
      """
    try Data(holder.utf8).write(to: workplace.file("holder.py"))
    let ended = await (try Self.start(in: workplace, "exec python3 \"$TMPDIR/holder.py\" \"$0\""))
      .wait(seconds: 60)
    #expect(ended.status == 1)
    #expect(ended.errors.contains("start this again"), "\(ended.errors)")
    #expect(try Self.left(in: workplace).isEmpty)
    #expect(try Self.processes(in: workplace).isEmpty, "the relay still runs")
  }

  @Test func `without a folder for its files the sample says what helps`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let ended = await (try Self.start(in: workplace, "TMPDIR=\"$TMPDIR/none\" exec \"$0\"")).wait()
    #expect(ended.status == 1)
    #expect(ended.errors.contains("No such file or directory; set TMPDIR to"), "\(ended.errors)")
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

  /// The relay's processes: the sample itself names no file of the workplace on its command line.
  private static func processes(in workplace: Workplace) throws -> [Int32] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap(Int32.init).filter {
      // A process that has ended meanwhile has no command line.
      let line = try? String(contentsOfFile: "/proc/\($0)/cmdline", encoding: .utf8)
      return line?.contains("\(workplace.directory.path)/zonerelay-notes-") == true
    }
  }
}

import Foundation
import Testing

/// The unit files, unchanged, under a real systemd that is process 1 of its own namespaces.
@Suite(.serialized) struct SystemdTests {
  private static var fixtures: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")
  }

  /// Started by its socket, READY, STATUS, watchdog, reload, a stuck loop restarted, a clean stop.
  @Test func aRealSystemdRunsTheUnits() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let configuration = try Self.configuration(in: workplace)
    let script = try Program(
      [
        Self.fixtures.appendingPathComponent("systemd-namespace.sh").path, Program.binary.path,
        configuration.path,
      ], in: workplace, name: "systemd", program: URL(fileURLWithPath: "/bin/bash"))
    let ended = await script.wait()
    let text = ended.output + ended.errors
    if ended.status == 77 {
      print("skipped: a real systemd in a namespace: \(text)")
      return
    }
    #expect(ended.status == 0, "\(text)")
  }

  /// What stands in /etc/zonerelay: no provider, so that nothing has to listen.
  private static func configuration(in workplace: Workplace) throws -> URL {
    let directory = workplace.file("etc")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let text = """
      server: { listen: 127.0.0.1:8460 }
      control: { socket: /run/zonerelay/control.sock }
      store: { engine: sqlite, directory: /var/lib/zonerelay }
      containers:
        - id: \(Workplace.container)
          environments:
            development:
              users: { sharedSecret: /etc/zonerelay/user.secret }
              producers:
                - { name: records-1, bearer: /etc/zonerelay/producer.key }
      """
    let files = [
      "zonerelay.yaml": text, "user.secret": workplace.userSecret,
      "producer.key": workplace.producerKey,
    ]
    for (name, contents) in files {
      try contents.write(
        to: directory.appendingPathComponent(name), atomically: true, encoding: .utf8)
    }
    return directory
  }
}

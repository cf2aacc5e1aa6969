import Foundation
import Testing

/// Checks the files that `make install` lays out, with the debug build.
@Suite struct InstallTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// Earlier, `make lay-out` installed 209 MB, without pages, completions and licence.
  @Test func `make lay-out installs a stripped binary, its symbols and its pages`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let place = workplace.file("installed")
    let ended = try await Program(
      [
        "-C", Self.root.path, "--no-print-directory", "lay-out", "BINARY=\(Program.binary.path)",
        "DESTDIR=\(place.path)", "PREFIX=/usr",
      ], in: workplace, name: "make", program: URL(fileURLWithPath: "/usr/bin/make")
    ).wait()
    try #require(ended.status == 0, "\(ended.errors)")
    func bytes(_ path: String) throws -> Int {
      let file = place.appendingPathComponent(path).path
      return try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
    }
    let built = try Data(contentsOf: Program.binary, options: .alwaysMapped).count
    #expect(try bytes("usr/bin/zonerelay") < built * 2 / 3)
    for path in [
      "usr/lib/debug/usr/bin/zonerelay.debug", "usr/lib/systemd/system/zonerelay.service",
      "usr/lib/systemd/system/zonerelay.socket", "usr/lib/sysusers.d/zonerelay.conf",
      "usr/share/doc/zonerelay/README.md", "usr/share/doc/zonerelay/copyright",
      "usr/share/doc/zonerelay/docs/operations.md",
      "usr/share/bash-completion/completions/zonerelay", "etc/zonerelay/zonerelay.yaml",
    ] {
      #expect(try bytes(path) > 0, "\(path)")
    }
    let version = try await Program(
      ["version"], in: workplace, name: "version",
      program: place.appendingPathComponent("usr/bin/zonerelay")
    ).wait()
    #expect(version.status == 0 && !version.output.isEmpty)
  }
}

import Foundation
import RelayHTTP
import Testing

/// The TLS versions and the application protocol that `server.tls` negotiates.
@Suite struct TLSTests {
  private func files() throws -> (TLSFiles, directory: String) {
    let directory =
      FileManager.default.temporaryDirectory.path + "/zr-\(UInt32.random(in: 0...UInt32.max))"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let files = TLSFiles(certificate: directory + "/cert.pem", key: directory + "/key.pem")
    try LoopbackCertificate.certificate.write(
      toFile: files.certificate, atomically: true, encoding: .utf8)
    try LoopbackCertificate.key.write(toFile: files.key, atomically: true, encoding: .utf8)
    return (files, directory)
  }

  /// - Returns: openssl's report of the session; empty if no cipher was agreed.
  private static func shake(_ port: Int, _ options: [String]) throws -> String {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments =
      ["s_client", "-connect", "127.0.0.1:\(port)", "-cipher", "DEFAULT@SECLEVEL=0"] + options
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let text = String(decoding: said, as: UTF8.self)
    return text.contains("Cipher is (NONE)") ? "" : text
  }

  @Test func `TLS versions before 1.2 are refused, and ALPN selects only HTTP 1.1`() async throws {
    let rig = await Rig()
    let (files, directory) = try files()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let agreed = try await rig.served(tls: files) { port, _ in
      try [
        ["-tls1"], ["-tls1_1"], ["-tls1_2", "-alpn", "h2,http/1.1"],
        ["-tls1_3", "-alpn", "http/1.1"], ["-alpn", "h2"],
      ].map { try Self.shake(port, $0) }
    }
    #expect(agreed[0] == "" && agreed[1] == "")
    #expect(agreed[2].contains("TLSv1.2") && agreed[2].contains("ALPN protocol: http/1.1"))
    #expect(agreed[3].contains("TLSv1.3") && agreed[3].contains("ALPN protocol: http/1.1"))
    #expect(agreed[4].contains("No ALPN negotiated"), "who knows only others is not sent away")
  }
}

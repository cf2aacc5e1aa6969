import Foundation
import Testing

/// A self-signed certificate for 127.0.0.1 in a directory of its own, made by openssl.
final class Certificate: Sendable {
  let directory: String
  var certificate: String { "\(directory)/cert.pem" }
  var key: String { "\(directory)/key.pem" }

  /// - Parameter subject: the name by which OpenSSL finds an authority. OpenSSL takes two
  ///   certificates with the same subject for one authority.
  init(subject: String = "localhost") throws {
    directory = FileManager.default.temporaryDirectory
      .appending(path: "relay-push-\(UUID().uuidString)").path()
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    try Self.openssl(
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
      "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=\(subject)",
      "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost")
  }

  deinit {
    // A temporary directory that is left behind does no harm.
    try? FileManager.default.removeItem(atPath: directory)
  }

  static func openssl(_ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }
}

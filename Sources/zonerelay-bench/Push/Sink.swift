import Foundation

/// An independent HTTP/2 server, nghttpd. It answers a POST to `/3/device/TOKEN` with 200 and the
/// file of that name.
struct Sink {
  let child: Child
  let port: Int
  /// The path of the certificate, in PEM, that clients must trust.
  let certificate: String

  static func start(_ bench: Workbench) async throws -> Sink {
    let root = try bench.emptyDirectory("sink")
    let devices = root.appendingPathComponent("3/device")
    try FileManager.default.createDirectory(at: devices, withIntermediateDirectories: true)
    for token in PushWork.tokens {
      // The file must not be empty: for an empty file nghttpd ends the stream with an extra frame.
      try Data("ok".utf8).write(to: devices.appendingPathComponent(PushWork.name(of: token)))
    }
    let (key, certificate) = (bench.file("sink.key").path, bench.file("sink.pem").path)
    _ = try await bench.run(
      Tool.openssl.find(),
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost",
        "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
      ], name: "openssl")
    let port = try Loopback.freePort()
    let child = try bench.start(
      Tool.nghttpd.find(),
      ["-a", Loopback.address, "-d", root.path, "-m1000", "\(port)", key, certificate],
      name: "nghttpd")
    try Loopback.waitForListener(on: port, by: child, name: "nghttpd")
    return Sink(child: child, port: port, certificate: certificate)
  }
}

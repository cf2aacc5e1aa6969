import Foundation

/// A stand-in for Firebase Cloud Messaging and Google's token endpoint on loopback. It checks what
/// the HTTP v1 API and RFC 7523 require of a sender.
///
/// The stand-in keeps its service account in the directory, in the file `service-account.json`. It
/// listens from its initialiser on; ``run()`` serves until its task is cancelled and must be called
/// once. Every request is written to `pushes.jsonl` before it is answered.
package struct FCMStandin: Sendable {
  /// The project that the stand-in serves.
  package static let project = "zonerelay-standin"
  /// The port that the stand-in listens on.
  package let port: Int
  private let server: FakeServer
  private let provider: FakeFCM

  /// Makes or reads the files in `directory`, and listens.
  ///
  /// - Parameter control: the path of a Unix socket where faults are changed; nil means no socket.
  /// - Throws: ``StandinError``, which names what failed and a remedy.
  package init(
    host: String = "127.0.0.1", port: Int = 0, directory: String, control: String? = nil
  ) async throws(StandinError) {
    let files = StandinFiles(directory: directory)
    try files.prepareCertificate()
    let account = try StandinAccount(files)
    provider = FakeFCM(account)
    server = try FakeServer(provider, files)
    self.port = try await server.listen(host: host, port: port, control: control, files)
    try account.write(files, tokenURL: "https://\(host):\(self.port)/token")
  }

  /// Serves until the task is cancelled, then closes every connection.
  ///
  /// - Throws: ``StandinError`` if the log of requests can no longer be written.
  package func run() async throws(StandinError) { try await server.run() }

  /// Invalidates all access tokens given out so far.
  package func forgetTokens() { provider.forgetTokens() }
}

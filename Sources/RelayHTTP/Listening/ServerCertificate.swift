import NIOSSL
import Synchronization

/// The certificate that a listener presents. A reload replaces the certificate for new connections;
/// open connections keep the old certificate.
package final class ServerCertificate: Sendable {
  /// A certificate and its private key, read from two files.
  package struct Pair: Sendable {
    fileprivate let context: NIOSSLContext

    /// - Throws: `ListenError` naming the files, if they cannot be used.
    package init(_ files: TLSFiles) throws(ListenError) {
      do {
        let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
        let key = try NIOSSLPrivateKey(file: files.key, format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
          certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        context = try NIOSSLContext(configuration: configuration)
      } catch {
        throw ListenError(
          description: "cannot use \(files.certificate) and \(files.key) for TLS: \(error); "
            + "both must be PEM files that belong together",
          remedy: "correct the files that server.tls names")
      }
    }
  }

  private let pair: Mutex<Pair>

  package init(_ pair: Pair) { self.pair = Mutex(pair) }

  package func replace(with pair: Pair) { self.pair.withLock { $0 = pair } }

  /// The TLS context for the next connection.
  var context: NIOSSLContext { pair.withLock { $0.context } }
}

import NIOCore
import NIOSSL

/// TLS for push providers: HTTP/2 is chosen by ALPN, and the peer's certificate is always verified.
enum TransportSecurity {
  /// Reads the files that the settings name.
  static func context(_ settings: EngineSettings) throws(PushProblem) -> NIOSSLContext {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.applicationProtocols = ["h2"]
    tls.minimumTLSVersion = .tlsv12
    // Wait only shortly for close_notify: a peer that answers no request does not send close_notify
    // either.
    tls.shutdownTimeout = .seconds(1)
    if let path = settings.trustRoots {
      tls.trustRoots = .certificates(try certificates(path, .trustRoots, what: "trust roots"))
    }
    if let client = settings.clientCertificate {
      let chain = try certificates(client.certificate, .certificate, what: "client certificate")
      tls.certificateChain = chain.map { .certificate($0) }
      tls.privateKey = .privateKey(try key(client.key))
    }
    do {
      return try NIOSSLContext(configuration: tls)
    } catch {
      throw PushProblem(
        .certificate, "TLS cannot be set up for \(settings.host): \(error)",
        remedy: "check that the certificate and its key belong together")
    }
  }

  static func certificates(
    _ path: String, _ code: PushProblem.Code, what: String
  ) throws(PushProblem) -> [NIOSSLCertificate] {
    let found: [NIOSSLCertificate]
    do {
      found = try NIOSSLCertificate.fromPEMFile(path)
    } catch {
      throw PushProblem(
        code, "the \(what) in \(path) cannot be read: \(error)",
        remedy: "name a readable PEM file with at least one certificate")
    }
    guard !found.isEmpty else {
      throw PushProblem(
        code, "\(path) holds no certificate for the \(what)",
        remedy: "name a readable PEM file with at least one certificate")
    }
    return found
  }

  private static func key(_ path: String) throws(PushProblem) -> NIOSSLPrivateKey {
    do {
      return try NIOSSLPrivateKey(file: path, format: .pem)
    } catch {
      throw PushProblem(
        .certificateKey, "the client certificate's key in \(path) cannot be read: \(error)",
        remedy: "name a readable PEM file with the unencrypted private key")
    }
  }
}

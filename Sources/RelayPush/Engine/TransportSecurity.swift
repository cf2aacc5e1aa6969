import NIOCore
import NIOSSL

/// TLS for push providers: HTTP/2 is chosen by ALPN, and the peer's certificate is always verified.
enum TransportSecurity {
  /// Checks the settings, and reads the files that they name.
  static func context(_ settings: EngineSettings) throws(PushProblem) -> NIOSSLContext {
    try settings.check()
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
      let key = try PushProblem.explain(
        .certificateKey, "the client certificate's key in \(client.key) cannot be read",
        remedy: "name a readable PEM file with the unencrypted private key"
      ) {
        try NIOSSLPrivateKey(file: client.key, format: .pem)
      }
      tls.privateKey = .privateKey(key)
    }
    return try PushProblem.explain(
      .certificate, "TLS cannot be set up for \(settings.host)",
      remedy: "check that the certificate and its key belong together"
    ) {
      try NIOSSLContext(configuration: tls)
    }
  }

  static func certificates(
    _ path: String, _ code: PushProblem.Code, what: String
  ) throws(PushProblem) -> [NIOSSLCertificate] {
    let remedy = "name a readable PEM file with at least one certificate"
    let found = try PushProblem.explain(
      code, "the \(what) in \(path) cannot be read", remedy: remedy
    ) {
      try NIOSSLCertificate.fromPEMFile(path)
    }
    guard !found.isEmpty else {
      throw PushProblem(code, "\(path) holds no certificate for the \(what)", remedy: remedy)
    }
    return found
  }
}

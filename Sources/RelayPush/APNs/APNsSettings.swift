package import RelayCore

/// One APNs route: endpoint, app and credential. The initialiser checks, without a request to
/// Apple, everything except the dates of a client certificate.
package struct APNsSettings: Sendable {
  /// How the `PushEngine` for the route's own environment connects: endpoint, trust roots, client
  /// certificate and limits.
  let engine: EngineSettings
  /// Which of Apple's environments `engine` connects to.
  package let environment: RelayCore.Environment
  /// How a second `PushEngine` connects to Apple's other environment, for pushes whose token the
  /// route's own environment does not recognise. `nil` means that no push goes to the other
  /// environment.
  let other: EngineSettings?
  /// The app's bundle id.
  package let topic: String
  package let credential: Credential
  /// What the client certificate contains; nil where the credential is a key.
  package let certificate: ClientCertificate?

  package struct Endpoint: Hashable, Sendable {
    package var host: String
    package var port: Int

    package init(host: String, port: Int = 443) {
      self.host = host
      self.port = port
    }

    /// Apple's own endpoint for `environment`.
    package static func apple(_ environment: RelayCore.Environment, port: Int = 443) -> Endpoint {
      switch environment {
      case .production: Endpoint(host: "api.push.apple.com", port: port)
      case .development: Endpoint(host: "api.sandbox.push.apple.com", port: port)
      }
    }

    /// The environment of Apple's endpoint; nil if the endpoint is not Apple's.
    package var appleEnvironment: RelayCore.Environment? {
      RelayCore.Environment.allCases.first { Endpoint.apple($0).host == host.lowercased() }
    }
  }

  package enum Credential: Sendable {
    case key(Key)
    /// Paths of PEM files: the certificate names team and topic, and no token is sent.
    case certificate(EngineSettings.ClientCertificate)
  }

  /// Does not check the certificate's dates: `ClientCertificate.misfit` does.
  ///
  /// - Parameters:
  ///   - environment: the environment that the endpoint stands for, if the endpoint is not Apple's
  ///     own.
  package init(
    _ endpoint: Endpoint, environment: RelayCore.Environment = .production, other: Endpoint? = nil,
    topic: String, credential: Credential, trustRoots: String? = nil,
    limits: EngineLimits = EngineLimits()
  ) throws(PushProblem) {
    guard !topic.isEmpty, topic.utf8.count <= Self.topicBytesMax, topic.isPlain(and: ".-_")
    else {
      throw PushProblem(
        .topic, "\"\(topic)\" is no topic",
        remedy: "give the app's bundle id, such as com.example.notes")
    }
    let environment = endpoint.appleEnvironment ?? environment
    var engine = EngineSettings(
      host: endpoint.host, port: endpoint.port, trustRoots: trustRoots, limits: limits)
    if case .certificate(let files) = credential {
      let found = try ClientCertificate(files)
      try found.check(files.certificate, topic: topic)
      certificate = found
      engine.clientCertificate = files
    } else {
      certificate = nil
    }
    // Reads the files and throws an error for an invalid one; the sender reads them again.
    _ = try TransportSecurity.context(engine)
    var abroad: EngineSettings?
    if let other {
      var settings = engine
      (settings.host, settings.port) = (other.host, other.port)
      try settings.check()
      // A certificate of Apple's older kind names only one environment.
      let serves = certificate?.environments ?? []
      if serves.isEmpty || serves.contains(environment.other) { abroad = settings }
    }
    self.engine = engine
    self.other = abroad
    (self.environment, self.topic, self.credential) = (environment, topic, credential)
  }

  private static let topicBytesMax = 255
}

extension String {
  /// True for ASCII letters, digits and `others` only: these cannot break a header field.
  func isPlain(and others: String = "") -> Bool {
    allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || others.contains($0)) }
  }
}

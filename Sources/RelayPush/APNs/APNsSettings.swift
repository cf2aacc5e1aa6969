package import RelayCore

/// One APNs route: endpoint, app and credential. The initialiser checks all that can be checked
/// without a request to Apple.
package struct APNsSettings: Sendable {
  package let endpoint: Endpoint
  /// Which of Apple's environments `endpoint` is.
  package let environment: RelayCore.Environment
  /// The endpoint of Apple's other environment, for pushes whose token `endpoint` does not
  /// recognise. `nil` means that no push goes to the other environment.
  package let other: Endpoint?
  /// The app's bundle id.
  package let topic: String
  package let credential: Credential
  /// PEM file with the authorities to trust instead of the system's, for a stand-in.
  package let trustRoots: String?
  /// Connections, timeouts and every other bound.
  package let limits: EngineLimits
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
    guard !topic.isEmpty, topic.utf8.count <= Self.topicBytesMax, topic.utf8.allSatisfy(isPlain)
    else {
      throw PushProblem(
        .topic, "\"\(topic)\" is no topic",
        remedy: "give the app's bundle id, such as com.example.notes")
    }
    let environment = endpoint.appleEnvironment ?? environment
    var certificate: ClientCertificate?
    if case .certificate(let files) = credential {
      let found = try ClientCertificate(files)
      try found.check(files.certificate, topic: topic)
      certificate = found
    }
    self.endpoint = endpoint
    self.environment = environment
    // An old certificate is valid for one of Apple's environments only.
    let serves = certificate?.environments ?? []
    self.other = serves.isEmpty || serves.contains(environment.other) ? other : nil
    self.topic = topic
    self.credential = credential
    self.trustRoots = trustRoots
    self.limits = limits
    self.certificate = certificate
    // Reads the files and throws an error for an invalid one; the sender reads them again.
    for settings in [engine(endpoint)] + (other.map { [engine($0)] } ?? []) {
      try settings.check()
    }
    _ = try TransportSecurity.context(engine(endpoint))
  }

  private static let topicBytesMax = 255

  func engine(_ endpoint: Endpoint) -> EngineSettings {
    var settings = EngineSettings(
      host: endpoint.host, port: endpoint.port, trustRoots: trustRoots, limits: limits)
    if case .certificate(let certificate) = credential { settings.clientCertificate = certificate }
    return settings
  }
}

/// True for letters, digits, `.`, `-` and `_`: none of these can break a header field.
private func isPlain(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
    UInt8(ascii: "_"):
    true
  default: false
  }
}

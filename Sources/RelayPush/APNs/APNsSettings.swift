import RelayCore

/// One APNs route: where, for which app, with which credential. A value that exists has been
/// checked, as far as that can be done without asking Apple.
package struct APNsSettings: Sendable {
  package let host: String
  package let port: Int
  /// The app's bundle id.
  package let topic: String
  package let credential: Credential
  /// PEM file with the authorities to trust instead of the system's, for a stand-in.
  package let trustRoots: String?
  /// Connections, timeouts and every other bound.
  package let limits: EngineLimits

  package enum Credential: Sendable {
    case key(Key)
    /// Paths of PEM files: the certificate names team and topic, and no token is sent.
    case certificate(EngineSettings.ClientCertificate)
  }

  package init(
    host: String, port: Int = 443, topic: String, credential: Credential,
    trustRoots: String? = nil, limits: EngineLimits = EngineLimits()
  ) throws(PushProblem) {
    guard !topic.isEmpty, topic.utf8.count <= Self.topicBytesMax, topic.utf8.allSatisfy(isPlain)
    else {
      throw PushProblem(
        .topic, "\"\(topic)\" is no topic",
        remedy: "give the app's bundle id, such as com.example.notes")
    }
    self.host = host
    self.port = port
    self.topic = topic
    self.credential = credential
    self.trustRoots = trustRoots
    self.limits = limits
    // Reads the files and throws what is wrong with them; the sender reads them again.
    try engine.check()
    _ = try TransportSecurity.context(engine)
  }

  private static let topicBytesMax = 255

  var engine: EngineSettings {
    var settings = EngineSettings(host: host, port: port, trustRoots: trustRoots, limits: limits)
    if case .certificate(let certificate) = credential { settings.clientCertificate = certificate }
    return settings
  }
}

/// Letters, digits and the few signs that ids are made of: nothing that could break a header field.
private func isPlain(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
    UInt8(ascii: "_"):
    true
  default: false
  }
}

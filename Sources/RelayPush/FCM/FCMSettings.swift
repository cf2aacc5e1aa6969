import RelayCore

/// FCM in one environment: its project and service account. The initialiser checks all that can be
/// checked without a request to Google.
package struct FCMSettings: Sendable {
  package static let hostDefault = "fcm.googleapis.com"
  package let host: String
  package let port: Int
  package let project: String
  /// PEM file with the authorities to trust instead of the system's, for a stand-in.
  package let trustRoots: String?
  /// Connections, timeouts and every other bound.
  package let limits: EngineLimits
  let account: ServiceAccount

  /// - Parameter project: `nil` means the service account's own project.
  package init(
    host: String = FCMSettings.hostDefault, port: Int = 443, project: String? = nil,
    account: ServiceAccount, trustRoots: String? = nil, limits: EngineLimits = EngineLimits()
  ) throws(PushProblem) {
    let name = project ?? account.project
    guard (1...63).contains(name.utf8.count),
      name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-.:".contains($0)) })
    else {
      throw PushProblem(
        .topic, "\"\(name)\" is no Firebase project",
        remedy: "give the project id, as the Firebase console shows it")
    }
    self.host = host
    self.port = port
    self.project = name
    self.account = account
    self.trustRoots = trustRoots
    self.limits = limits
    try engine.check()
    _ = try TransportSecurity.context(engine)
  }

  var engine: EngineSettings {
    EngineSettings(host: host, port: port, trustRoots: trustRoots, limits: limits)
  }
}

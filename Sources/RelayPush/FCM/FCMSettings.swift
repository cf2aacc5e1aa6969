import RelayCore

/// FCM in one environment: its project and service account. The initialiser checks all that can be
/// checked without a request to Google.
package struct FCMSettings: Sendable {
  package static let hostDefault = "fcm.googleapis.com"
  package let project: String
  /// Where the engine connects, with its trust roots and every bound.
  let engine: EngineSettings
  let account: ServiceAccount

  /// - Parameter project: `nil` means the service account's own project.
  package init(
    host: String = FCMSettings.hostDefault, port: Int = 443, project: String? = nil,
    account: ServiceAccount, trustRoots: String? = nil, limits: EngineLimits = EngineLimits()
  ) throws(PushProblem) {
    let name = project ?? account.project
    guard (1...63).contains(name.utf8.count),
      name.isPlain(and: "-.:")
    else {
      throw PushProblem(
        .topic, "\"\(name)\" is no Firebase project",
        remedy: "give the project id, as the Firebase console shows it")
    }
    self.project = name
    self.account = account
    engine = EngineSettings(host: host, port: port, trustRoots: trustRoots, limits: limits)
    _ = try TransportSecurity.context(engine)
  }
}

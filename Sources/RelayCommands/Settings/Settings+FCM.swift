import Foundation
import RelayCore
import RelayPush

extension Settings {
  /// A route to Firebase Cloud Messaging.
  package struct FCM: Sendable {
    package var project: String
    /// The key file of a service account, as Google provides it.
    package var serviceAccount: Secret
    package var host = FCMSettings.hostDefault
    package var port = 443
    /// PEM file with the authorities to trust instead of the system's.
    package var trustRoots: String?
  }

  static func fcm(_ section: Section) -> FCM? {
    let project = section.value("project", .name(extra: "-.:", max: 63))
    let secret = section.required(
      "serviceAccount", section.secret(min: 1, max: 65_536, "a service account's key in JSON"))
    let endpoint = section.value(
      "endpoint", .url(schemes: ["https"]), default: "https://\(FCMSettings.hostDefault):443")
    let trustRoots = section.value("trustRoots", section.pem("CERTIFICATE"))
    guard let secret, let url = URLComponents(string: endpoint), let host = url.host else {
      return nil
    }
    let keys: [PushProblem.Code: String] = [
      .topic: "project", .trustRoots: "trustRoots", .endpoint: "endpoint",
    ]
    return section.proven(keys, else: "serviceAccount") { () throws(PushProblem) in
      let account = try ServiceAccount(json: secret.bytes)
      let fcm = FCM(
        project: project ?? account.project, serviceAccount: secret, host: host,
        port: url.port ?? 443, trustRoots: trustRoots)
      _ = try FCMSettings(fcm, limits: EngineLimits())
      return fcm
    }
  }
}

extension FCMSettings {
  /// - Throws: `PushProblem` naming what is wrong and the remedy.
  init(_ settings: Settings.FCM, limits: EngineLimits) throws(PushProblem) {
    try self.init(
      host: settings.host, port: settings.port, project: settings.project,
      account: ServiceAccount(json: settings.serviceAccount.bytes),
      trustRoots: settings.trustRoots, limits: limits)
  }
}

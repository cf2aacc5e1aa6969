import Foundation
import Logging
import NIOCore
import RelayCore
import RelayEngine
import RelayPush

/// A sender for each configured route. A new provider is one folder in RelayPush and a case here.
enum Providers {
  static func senders(
    _ settings: Settings, group: any EventLoopGroup, clock: any ClockReader, logger: Logger
  ) async throws -> [RouteKey: any PushSender] {
    var senders: [RouteKey: any PushSender] = [:]
    let kept = "\(settings.store.directory)/provider-tokens"
    try FileManager.default.createDirectory(
      atPath: kept, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    var credentials: [CredentialName: APNsCredential] = [:]
    for app in settings.apps {
      for route in app.apns {
        let settings = try APNsSettings(route, attemptTimeout: settings.attemptTimeout)
        var credential: APNsCredential?
        if case .key(let key) = settings.credential {
          let name = CredentialName(keyID: key.keyID, teamID: key.teamID)
          credential = credentials[name]
          if credential == nil {
            credential = try await APNsCredential(key, keptIn: kept) { error in
              logger.warning(
                "the provider token could not be kept",
                metadata: ["directory": "\(kept)", "error": "\(error)"])
            }
          }
          credentials[name] = credential
        }
        let sender = try APNsSender(
          settings, credential: credential, group: group, logger: logger, now: { clock.wall() })
        senders[RouteKey(scope: app.scope, transport: .apns, topic: route.topic)] = sender
      }
      if let fcm = app.fcm {
        senders[RouteKey(scope: app.scope, transport: .fcm, topic: fcm.project)] = try FCMSender(
          try FCMSettings(fcm, attemptTimeout: settings.attemptTimeout), group: group,
          logger: logger, now: { clock.wall() })
      }
      if let webPush = app.webPush {
        senders[RouteKey(scope: app.scope, transport: .webpush, topic: "")] = WebPushSender(
          try WebPushSettings(webPush, attemptTimeout: settings.attemptTimeout),
          now: { clock.wall() })
      }
    }
    return senders
  }

  /// Routes of one key share its provider tokens: Apple counts their updates per team.
  private struct CredentialName: Hashable {
    var keyID: String
    var teamID: String
  }
}

extension APNsSettings {
  /// - Throws: `PushProblem` naming what is wrong and the remedy.
  init(_ route: Settings.APNs, attemptTimeout: Span) throws(PushProblem) {
    var limits = EngineLimits()
    limits.attemptTimeout = attemptTimeout
    let credential: Credential
    switch route.credential {
    case .key(let secret, let keyID, let teamID):
      credential = .key(try Key(pem: secret.text, keyID: keyID, teamID: teamID))
    case .certificate(let files):
      credential = .certificate(
        EngineSettings.ClientCertificate(certificate: files.certificate, key: files.key))
    }
    try self.init(
      host: route.host, port: route.port, topic: route.topic, credential: credential,
      trustRoots: route.trustRoots, limits: limits)
  }
}

import Logging
import NIOCore
import RelayCore
import RelayEngine
import RelayPush

/// A sender for each configured route. To support a new provider, add a folder in RelayPush and a
/// case in `reconfigure`.
///
/// A reload keeps the unchanged routes' senders with their connections.
struct Providers {
  /// The senders that `reconfigure` has made, and the routes that the new settings no longer have.
  struct SenderChanges {
    var started: [RouteKey: any PushSender] = [:]
    var ended: [RouteKey] = []
  }

  private let group: any EventLoopGroup
  private let clock: any ClockReader
  private let logger: Logger
  /// The inputs of each route's current sender.
  private var kept: [RouteKey: SenderFingerprint] = [:]
  private var credentials: [APNsSettings.KeyName: APNsCredential] = [:]

  init(group: any EventLoopGroup, clock: any ClockReader, logger: Logger) {
    self.group = group
    self.clock = clock
    self.logger = logger
  }

  /// Makes senders for routes that are new or changed.
  ///
  /// - Throws: the error that makes a sender impossible; in that case nothing has changed.
  mutating func reconfigure(_ settings: Settings) async throws -> SenderChanges {
    let directory = try settings.makeProviderTokens()
    let limits = EngineLimits(
      attemptTimeout: settings.attemptTimeout, probe: settings.wake.probe)
    var next = Generation(before: kept)
    var named: [APNsSettings.KeyName: APNsCredential] = [:]
    for app in settings.apps {
      for route in app.apns {
        let key = RouteKey(scope: app.scope, transport: .apns, topic: route.topic)
        let made = try APNsSettings(route, limits: limits)
        let credential = try await credential(of: route, made, keptIn: directory, among: &named)
        try next.keep(key, SenderFingerprint(route, limits)) {
          try APNsSender(
            made, credential: credential, group: group, logger: logger,
            now: { [clock] in clock.wall() })
        }
      }
      if let fcm = app.fcm {
        let key = RouteKey(scope: app.scope, transport: .fcm, topic: fcm.project)
        try next.keep(key, SenderFingerprint(fcm, limits)) {
          try FCMSender(
            try FCMSettings(fcm, limits: limits), group: group, logger: logger,
            now: { [clock] in clock.wall() })
        }
      }
      if let web = app.webPush {
        let key = RouteKey(scope: app.scope, transport: .webpush, topic: "")
        try next.keep(key, SenderFingerprint(web, limits)) {
          WebPushSender(
            try WebPushSettings(web, attemptTimeout: limits.attemptTimeout),
            now: { [clock] in clock.wall() })
        }
      }
    }
    let ended = kept.keys.filter { next.kept[$0] == nil }
    (kept, credentials) = (next.kept, named)
    return SenderChanges(started: next.started, ended: ended)
  }

  /// The next set of senders, made while the present one still runs.
  private struct Generation {
    let before: [RouteKey: SenderFingerprint]
    var kept: [RouteKey: SenderFingerprint] = [:]
    var started: [RouteKey: any PushSender] = [:]

    mutating func keep(
      _ key: RouteKey, _ fingerprint: SenderFingerprint, make: () throws -> any PushSender
    ) throws {
      kept[key] = fingerprint
      if before[key] != fingerprint { started[key] = try make() }
    }
  }

  /// The credential of a route; nil if the route has a certificate. Routes of one key share one
  /// credential, also across reloads: Apple counts token updates per team.
  private func credential(
    of route: Settings.APNs, _ made: APNsSettings, keptIn directory: String,
    among named: inout [APNsSettings.KeyName: APNsCredential]
  ) async throws -> APNsCredential? {
    guard case .key(let key) = made.credential,
      case .key(let secret, let keyID, let teamID) = route.credential
    else { return nil }
    let name = APNsSettings.KeyName(keyID: keyID, teamID: teamID, secret: secret.bytes)
    if let known = named[name] ?? credentials[name] {
      named[name] = known
      return known
    }
    let credential = try await APNsCredential(key, keptIn: directory) { [logger] error in
      logger.warning(
        "the provider token could not be kept",
        metadata: ["directory": "\(directory)", "error": "\(error)"])
    }
    named[name] = credential
    return credential
  }
}

/// All inputs of a sender, the contents of its files included. Equal fingerprints mean that the
/// sender can be kept.
private struct SenderFingerprint: Hashable {
  var words: [String]
  var files: [[UInt8]]
  var limits: EngineLimits

  /// - Throws: `ValueError` if a file has disappeared since its check. The other initialisers
  ///   throw the same error.
  init(_ route: Settings.APNs, _ limits: EngineLimits) throws(ValueError) {
    self.limits = limits
    words = [
      "\(route.endpoint)", "\(route.otherEndpoint.map { "\($0)" } ?? "none")", route.topic,
    ]
    files = try Self.roots(route.trustRoots)
    switch route.credential {
    case .key(let secret, let keyID, let teamID):
      words += [keyID, teamID]
      files.append(secret.bytes)
    case .certificate(let pair):
      files.append(try FileBytes.read(pair.certificate))
      files.append(try FileBytes.read(pair.key))
    }
  }

  init(_ fcm: Settings.FCM, _ limits: EngineLimits) throws(ValueError) {
    self.limits = limits
    words = [fcm.host, "\(fcm.port)", fcm.project]
    files = try Self.roots(fcm.trustRoots) + [fcm.serviceAccount.bytes]
  }

  init(_ web: Settings.WebPush, _ limits: EngineLimits) throws(ValueError) {
    self.limits = limits
    words = [web.subject, "\(web.allowPrivateAddresses)"]
    files = try Self.roots(web.trustRoots) + [web.key.bytes]
  }

  /// The contents and the path of the file with trust roots. The result for no file differs from
  /// the result for any file.
  private static func roots(_ path: String?) throws(ValueError) -> [[UInt8]] {
    guard let path else { return [[]] }
    return [try FileBytes.read(path), Array(path.utf8)]
  }
}

extension APNsSettings {
  fileprivate struct KeyName: Hashable {
    var keyID: String
    var teamID: String
    var secret: [UInt8]
  }

  /// - Throws: `PushProblem` naming what is wrong and the remedy.
  init(_ route: Settings.APNs, limits: EngineLimits) throws(PushProblem) {
    let credential: Credential
    switch route.credential {
    case .key(let secret, let keyID, let teamID):
      credential = .key(try Key(pem: secret.text, keyID: keyID, teamID: teamID))
    case .certificate(let files):
      credential = .certificate(files)
    }
    try self.init(
      route.endpoint, environment: route.environment, other: route.otherEndpoint,
      topic: route.topic, credential: credential, trustRoots: route.trustRoots, limits: limits)
  }
}

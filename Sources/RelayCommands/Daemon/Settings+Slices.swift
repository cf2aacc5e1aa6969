import Logging
import RelayCore
import RelayEngine
import RelayHTTP
import RelayStore

/// Each part gets only its slice of the settings.
extension Settings {
  var storeSlice: StoreSettings {
    var slice = StoreSettings(directory: store.directory)
    slice.limits = limits
    return slice
  }

  var engineSlice: RelayEngine.EngineSettings {
    var slice = RelayEngine.EngineSettings()
    slice.limits = limits
    slice.policy = wake
    slice.inboxMax = doors.inboxChanges
    slice.readersMax = doors.waitingReaders
    slice.tombstonesKept = retention.tombstones
    slice.notificationsKept = retention.notifications
    slice.drainGrace = attemptTimeout + .seconds(2)
    return slice
  }

  /// - Parameter inherited: a socket that systemd handed over takes the address's place.
  func httpSlice(listen inherited: Int32?) -> HTTPSettings {
    var bounds = HTTPLimits()
    bounds.eventsPerRequest = doors.eventsPerRequest
    bounds.bodyBytes = doors.requestBodyBytes
    bounds.bodyBytesInFlight = doors.requestBodyBytesInFlight
    bounds.connections = doors.connections
    bounds.pageEntries = limits.pageEntries
    bounds.courierConnections = limits.courierConnections
    bounds.courierReadSeconds = Int(max(1, min(55, wake.courierGrace.milliseconds / 1_000)))
    return HTTPSettings(
      listen: inherited.map { .inherited(fd: $0) }
        ?? .tcp(host: server.listen.host, port: server.listen.port),
      tls: server.tls.map { TLSFiles(certificate: $0.certificate, key: $0.key) },
      publicURL: server.publicURL ?? "\(server.tls == nil ? "http" : "https")://\(server.listen)",
      scopes: access, limits: bounds, controlSocket: control.socket,
      metrics: control.metrics.map { .tcp(host: $0.host, port: $0.port) },
      version: Version.text)
  }

  /// Who may ask and report, scope by scope: what a reload brings in anew.
  var access: [Scope: ScopeAccess] {
    var access: [Scope: ScopeAccess] = [:]
    for app in apps {
      access[app.scope] = ScopeAccess(
        users: ScopeAccess.Users(
          sharedSecret: app.users.sharedSecret.bytes, issuer: app.users.issuer),
        apiTokens: app.apiTokens.map(\.text),
        producers: app.producers.map {
          ScopeAccess.Producer(name: $0.name, bearer: $0.bearer.text)
        },
        topics: app.apns.map(\.topic),
        firebaseProject: app.fcm?.project,
        webPush: app.webPush.map {
          ScopeAccess.WebPush(allowsPrivateAddresses: $0.allowPrivateAddresses)
        })
    }
    return access
  }

  var readyLine: String {
    let containers = Set(apps.map(\.scope.container)).count
    return
      "serving \(containers) \(containers == 1 ? "container" : "containers") on \(server.listen)"
  }

  /// Effective limits are printed at start (L25).
  var startingMetadata: Logger.Metadata {
    var metadata: Logger.Metadata = [
      "version": "\(Version.text)", "listen": "\(server.listen)",
      "store": "\(store.directory)", "environments": "\(apps.count)",
    ]
    let bounds = [Mirror(reflecting: limits), Mirror(reflecting: doors)]
    for (name, value) in bounds.flatMap(\.children) {
      metadata["limit_\(name ?? "")"] = "\(value)"
    }
    return metadata
  }
}

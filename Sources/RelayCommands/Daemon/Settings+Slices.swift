import Logging
import RelayCore
import RelayEngine
import RelayFeedback
import RelayHTTP
import RelayStore

/// The slices of the settings: each part of the daemon gets only its own slice.
extension Settings {
  var storeSlice: StoreSettings {
    var slice = StoreSettings(directory: store.directory)
    slice.limits = limits
    return slice
  }

  var engineSlice: RelaySettings {
    var slice = RelaySettings()
    slice.limits = limits
    slice.policy = wake
    slice.isTraced = trace.isOn
    slice.inboxMax = requests.inboxChanges
    slice.inboxBytesMax = requests.inboxBytes
    slice.readersMax = requests.waitingReaders
    slice.answerWithin = requests.answerWithin
    slice.tombstonesKept = retention.tombstones
    slice.notificationsKept = retention.notifications
    slice.feedbackKept = retention.feedback
    // With this interval, no entry is kept for more than twice its retention time.
    slice.trimEvery = min(slice.trimEvery, retention.shortest)
    slice.drainGrace = attemptTimeout + .seconds(2)
    return slice
  }

  /// - Parameters:
  ///   - inherited: sockets that systemd passed; if there are any, they replace the address.
  ///   - keySets: the cache of users' key sets that have a URL.
  func httpSlice(listen inherited: [Int32], keys keySets: JWKSCache) -> HTTPSettings {
    var bounds = HTTPLimits()
    bounds.eventsPerRequest = requests.eventsPerRequest
    bounds.eventBytes = requests.eventBytes
    bounds.valuesPerRecord = requests.valuesPerRecord
    bounds.bodyBytes = requests.requestBodyBytes
    bounds.bodyBytesInFlight = requests.requestBodyBytesInFlight
    bounds.connections = requests.connections
    bounds.connectionsPerAddress = requests.connectionsPerAddress
    bounds.inboxChanges = requests.inboxChanges
    bounds.inboxBytes = requests.inboxBytes
    bounds.waitingReaders = requests.waitingReaders
    bounds.answerWithin = requests.answerWithin
    bounds.storeLooks = min(bounds.storeLooks, storeSlice.readersMax)
    bounds.writesPerMinute = requests.writesPerMinute
    bounds.failedAuthenticationsPerMinute = requests.failedAuthenticationsPerMinute
    bounds.pageEntries = limits.pageEntries
    bounds.courierConnections = limits.courierConnections
    bounds.courierTokenSeconds = limits.courierAddressFor.milliseconds / 1_000
    bounds.courierReadSeconds = Int(max(1, min(55, wake.courierGrace.milliseconds / 1_000)))
    return HTTPSettings(
      listen: inherited.isEmpty
        ? .tcp(host: server.listen.host, port: server.listen.port) : .inherited(inherited),
      tls: server.tls,
      publicURL: server.publicURL ?? "\(server.tls == nil ? "http" : "https")://\(server.listen)",
      scopes: access(keys: keySets), limits: bounds, controlSocket: control.socket,
      metrics: control.metrics.map { .tcp(host: $0.host, port: $0.port) },
      version: Version.text)
  }

  /// The users and producers with access, for each scope. A reload replaces all of them.
  func access(keys keySets: JWKSCache) -> [Scope: ScopeAccess] {
    var access: [Scope: ScopeAccess] = [:]
    for app in apps {
      access[app.scope] = ScopeAccess(
        users: ScopeAccess.Users(app.users, keySets),
        apiTokens: app.apiTokens.map(\.text), origins: Set(app.origins),
        producers: app.producers.map(ScopeAccess.Producer.init), topics: app.apns.map(\.topic),
        firebaseProject: app.fcm?.project,
        webPush: app.webPush.map {
          ScopeAccess.WebPush(allowsPrivateAddresses: $0.allowPrivateAddresses)
        })
    }
    return access
  }

  /// The webhook of each scope whose feedback is delivered.
  var webhooks: [Scope: WebhookSettings] {
    Dictionary(
      apps.compactMap { app in app.feedback.map { (app.scope, $0) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// The URLs that users' keys are fetched from.
  var keySetAddresses: Set<KeySetAddress> {
    Set(
      apps.compactMap { app in
        if case .keySetURL(let address) = app.users.proof { address } else { nil }
      })
  }

  /// The number of parts that must be ready: the engine, the API, the control socket and, if it is
  /// configured, the metrics listener.
  var parts: Int { control.metrics == nil ? 3 : 4 }

  var readyLine: String {
    let containers = Set(apps.map(\.scope.container)).count
    return
      "serving \(containers) \(containers == 1 ? "container" : "containers") on \(server.listen)"
  }

  /// What the daemon logs when it starts: its version, address, store, number of environments, and
  /// every limit.
  var startingMetadata: Logger.Metadata {
    var metadata: Logger.Metadata = [
      "version": "\(Version.text)", "listen": "\(server.listen)",
      "store": "\(store.directory)", "environments": "\(apps.count)",
    ]
    for bound in bounds { metadata["limit_\(bound.name)"] = "\(bound.value)" }
    return metadata
  }
}

extension ScopeAccess.Users {
  fileprivate init(_ users: Settings.Users, _ keySets: JWKSCache) {
    let proof: Proof =
      switch users.proof {
      case .sharedSecret(let secret): .sharedSecret(secret.bytes)
      case .keySet(let set): .keySet(set)
      case .keySetURL(let address): .remote(keySets.keys(at: address))
      }
    self.init(proof, issuer: users.issuer)
  }
}

extension ScopeAccess.Producer {
  fileprivate init(_ producer: Settings.Producer) {
    let proof: Proof =
      switch producer.proof {
      case .bearer(let key): .bearer(key.text)
      case .signature(let keyID, let key): .signature(keyID: keyID, key)
      }
    self.init(name: producer.name, proof: proof, fetchCapacity: producer.fetchCapacity)
  }
}

import Hummingbird
import Logging
@testable import RelayCore
@testable import RelayHTTP

/// Parsers of whole connections to the daemon: NIO's parser, and the daemon's own parsers of
/// addresses, fields, bodies, tokens and signatures. An input is the client's bytes, and how they
/// are split (`FuzzedConnection`).
extension FuzzedParser {
  static let fromCallers: [FuzzedParser] = [
    FuzzedParser("api-connection", texts: apiSeeds, words: connectionWords + eventWords) {
      bytes throws(Defect) in
      let relay = FuzzRelay()
      var limits = HTTPLimits()
      limits.bodyBytes = 4_096
      let settings = settings(limits)
      try hear(bytes, limits) { thread -> (any RequestResponder, Courier?)? in
        guard let registry = registry(settings, thread) else { return nil }
        let courier = Courier(limits: limits, clock: FuzzClock())
        let api = API(
          relay: relay, reader: relay, reads: reads, keys: FuzzKeys(), clock: FuzzClock(),
          access: registry, courier: courier, settings: settings)
        return (api, courier)
      }
      try Defect.unless(
        !relay.isSpoilt, "what a caller sent is another when it is read from the journal")
    },
    FuzzedParser("control-connection", texts: controlSeeds, words: connectionWords) {
      bytes throws(Defect) in
      let relay = FuzzRelay()
      let settings = settings(HTTPLimits())
      try hear(bytes, settings.limits) { thread -> (any RequestResponder, Courier?)? in
        guard let registry = registry(settings, thread) else { return nil }
        let admin = AdminAPI(
          relay: relay, reader: relay, reads: reads, keys: FuzzKeys(), clock: FuzzClock(),
          access: registry, settings: settings)
        return (admin, nil)
      }
    },
  ]

  private static var reads: StoreReads {
    StoreReads(
      clock: FuzzClock(), logger: Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() })
  }

  private static func hear(
    _ input: [UInt8], _ limits: HTTPLimits,
    _ open: (OneThread) -> (any RequestResponder, Courier?)?
  ) throws(Defect) {
    let thread = OneThread()
    guard let (responder, courier) = open(thread) else {
      throw Defect(reason: "the API does not open")
    }
    var connection: FuzzedConnection
    do {
      connection = try FuzzedConnection(to: responder, limits, on: thread, courier)
    } catch {
      throw Defect(reason: "there is no connection: \(error)")
    }
    try connection.hear(input)
  }

  private static func registry(_ settings: HTTPSettings, _ thread: OneThread) -> ScopeRegistry? {
    thread.value {
      await ScopeRegistry(settings.scopes, keys: FuzzKeys(), limits: settings.limits)
    }
  }

  private static func settings(_ limits: HTTPLimits) -> HTTPSettings {
    var producers = [ScopeAccess.Producer(name: "records-1", proof: .bearer(producerBearer))]
    if let producerKey {
      producers.append(
        ScopeAccess.Producer(name: "records-2", proof: .signature(keyID: "k1", producerKey)))
    }
    let access = ScopeAccess(
      users: ScopeAccess.Users(.sharedSecret(Array("0123456789abcdef0123456789abcdef".utf8))),
      origins: ["https://app.example.com"], producers: producers,
      topics: ["com.example.notes"], firebaseProject: "p",
      webPush: ScopeAccess.WebPush(allowsPrivateAddresses: false))
    return HTTPSettings(
      listen: .tcp(host: "127.0.0.1", port: 0), publicURL: "https://relay.example.com",
      scopes: [scope: access], limits: limits, controlSocket: "/nonexistent", version: "0")
  }

  private static let producerBearer = "producer-key-of-at-least-32-characters"
  /// A key whose private half no longer exists. One of the seeds is a request signed with it.
  private static let producerKey = try? ProducerKey(
    pem: """
      -----BEGIN PUBLIC KEY-----
      MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE4DT+nIW8+BZOIsiZKmfZ+U2d0Tj0
      C7nC5CkOHP7c5ttmDb5tapcOSF/p0kvHD7CVCgcIgim0/VmidQAitcrJ1A==
      -----END PUBLIC KEY-----
      """)
}

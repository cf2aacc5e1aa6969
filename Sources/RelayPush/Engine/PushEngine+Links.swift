import Logging
import NIOCore
import NIOPosix
import NIOSSL
import RelayCore

/// The engine's work with connections: performs the pool's actions, and reports the connections'
/// events to the pool.
extension PushEngine {
  func connection(_ id: LinkID) -> ProviderConnection? { connections.first { $0.id == id } }

  func perform(_ actions: [Pool.Action]) {
    for action in actions {
      switch action {
      case .open(let id): open(id)
      case .ping(let id):
        connection(id)?.session.ping()
        connection(id)?.isDirty = true
        scheduleTurn()
      case .close(let id, let reason):
        guard let connection = connection(id) else { continue }
        switch reason {
        case .connectTimeout, .silent: failing(reason.rawValue)
        case .drained, .stopped: break
        }
        connection.close()
        lose(connection, reason == .stopped ? .cutOff : .lost, reason.rawValue)
        scheduleTurn()
      }
    }
  }

  func opened(_ connection: ProviderConnection) {
    pool.opened(connection.id, at: .now)
    counts.opened += 1
    if counts.lastError != nil {
      logger.notice("push connection is back", metadata: ["endpoint": "\(endpoint)"])
    }
    counts.lastError = nil
    scheduleTurn()
  }

  /// The connection received bytes and its session has processed them.
  func heard(_ connection: ProviderConnection) {
    let now = Uptime.now
    pool.heard(connection.id, at: now)
    consume(connection, at: now)
    scheduleTurn()
  }

  /// The connection has failed and is being closed.
  func failed(_ connection: ProviderConnection, _ reason: String) {
    failing(reason)
    lose(connection, because: reason)
    scheduleTurn()
  }

  /// The connection has ended. `reason` is nil if we closed it.
  func closed(_ connection: ProviderConnection, _ reason: String?) {
    connections.removeAll { $0 === connection }
    if let reason {
      // A provider may close an idle or drained connection; that is no fault.
      if pool.isInUse(connection.id) { failing(reason) }
      lose(connection, because: reason)
    }
    scheduleTurn()
  }

  func consume(_ connection: ProviderConnection, at now: Uptime) {
    var unprocessed: [AttemptID] = []
    for event in connection.session.takeEvents() {
      switch event {
      case .allowed(let streams): pool.allowed(connection.id, streams: streams)
      case .goAway(let text):
        counts.goAways += 1
        logger.info(
          "provider closes a push connection",
          metadata: ["endpoint": "\(endpoint)", "reason": "\(text)"])
        perform(pool.drain(connection.id, at: now))
        scheduleTurn()
      case .ended(let attempt, let end):
        var (answered, proof) = (false, false)
        switch end {
        case .unprocessed: unprocessed.append(attempt)
        case .answered(let response):
          counts.answered += 1
          finish(attempt, .answered(response))
          (answered, proof) = (true, response.provesCredential)
        case .reset(let name, let isWhole):
          if attempts.contains(attempt) { counts.resets += 1 }
          let reason = "reset by the provider: \(name)"
          finish(attempt, .failed(TransportFailure(.reset, reason, isWhole: isWhole)))
        }
        perform(pool.ended(connection.id, answered: answered, proof: proof, at: now))
        scheduleTurn()
      }
    }
    if !unprocessed.isEmpty { resend(unprocessed) }
  }

  private func lose(_ connection: ProviderConnection, because reason: String) {
    let now = Uptime.now
    consume(connection, at: now)
    lose(connection, .lost, "connection lost: \(reason)")
    perform(pool.closed(connection.id, at: now))
  }

  private func lose(
    _ connection: ProviderConnection, _ code: TransportFailure.Code, _ reason: String
  ) {
    for (attempt, isWhole) in connection.session.abandon() {
      if attempts.contains(attempt) { counts.lost += 1 }
      finish(attempt, .failed(TransportFailure(code, reason, isWhole: isWhole)))
    }
  }

  private func open(_ id: LinkID) {
    let limits = settings.limits
    let session = Session(
      shape: shape, authority: authority, link: id, streamsMax: limits.streamsMax,
      bodyBytesMax: limits.bodyBytesMax)
    let connection = ProviderConnection(id: id, session: session, engine: self)
    connections.append(connection)
    // TLS server names are host names, not addresses. An address is still checked against the
    // certificate.
    let isAddress = (try? SocketAddress(ipAddress: settings.host, port: 0)) != nil
    let name = isAddress ? nil : settings.host
    let tls = tls
    ClientBootstrap(group: eventLoop)
      .connectTimeout(.milliseconds(limits.connectTimeout.milliseconds))
      .channelOption(ChannelOptions.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let security = try NIOSSLClientHandler(context: tls, serverHostname: name)
          try channel.pipeline.syncOperations.addHandlers(security, connection)
        }
      }
      .connect(host: settings.host, port: settings.port)
      .whenFailure { connection.ended(Self.describe($0)) }
  }

  /// Logs the first failure and each new reason, not every attempt.
  private func failing(_ reason: String) {
    let reason = String(reason.prefix(300))
    if counts.lastError != reason {
      logger.warning(
        "push connection fails", metadata: ["endpoint": "\(endpoint)", "error": "\(reason)"])
    }
    counts.lastError = reason
  }

  private var endpoint: String { "\(settings.host):\(settings.port)" }

  private var authority: String {
    let host = settings.host.contains(":") ? "[\(settings.host)]" : settings.host
    return settings.port == 443 ? host : "\(host):\(settings.port)"
  }

  private static func describe(_ error: any Error) -> String {
    guard let error = error as? NIOConnectionError else { return "\(error)" }
    if let last = error.connectionErrors.last { return "\(last.error)" }
    if let dns = error.dnsAError ?? error.dnsAAAAError { return "\(error.host): \(dns)" }
    return "\(error)"
  }
}

package import RelayCore

/// Where and how a push engine connects. `EngineLimits` holds its sizes and times.
package struct EngineSettings: Sendable {
  package var host: String
  package var port: Int
  /// PEM file with the authorities to trust instead of the system's; nil for the system's.
  package var trustRoots: String?
  package var clientCertificate: ClientCertificate?
  package var limits = EngineLimits()

  package init(
    host: String, port: Int, trustRoots: String? = nil,
    clientCertificate: ClientCertificate? = nil, limits: EngineLimits = EngineLimits()
  ) {
    self.host = host
    self.port = port
    self.trustRoots = trustRoots
    self.clientCertificate = clientCertificate
    self.limits = limits
  }

  /// Paths of PEM files; the certificate may be followed by its chain.
  package struct ClientCertificate: Hashable, Sendable {
    package var certificate: String
    package var key: String

    package init(certificate: String, key: String) {
      self.certificate = certificate
      self.key = key
    }
  }
}

/// Every bound of a push engine.
package struct EngineLimits: Hashable, Sendable {
  /// Connections kept open to the provider.
  package var connections = 2
  /// Streams on one connection at once, even where the provider allows more.
  package var streamsMax = 500
  /// Requests that wait for a connection or a free stream; more are refused as `full`.
  package var waitingMax = 4_096
  /// The time from `send` to the outcome.
  package var attemptTimeout = Span.seconds(10)
  /// The time for TCP, TLS and the choice of protocol together.
  package var connectTimeout = Span.seconds(10)
  /// A silent connection without requests is pinged after this.
  package var idlePing = Span.hours(1)
  /// A silent connection that has unanswered requests is pinged after this.
  package var stallAfter = Span.seconds(3)
  /// A pinged connection that stays silent for this is closed.
  package var pongWithin = Span.seconds(3)
  /// Wait before a second attempt to connect; doubles up to `reconnectMax`.
  package var reconnectFirst = Span(milliseconds: 250)
  package var reconnectMax = Span.seconds(60)
  /// How long open requests may still finish when the engine is told to stop.
  package var stopGrace = Span.seconds(2)
  /// How often one request is sent again after the provider certainly did not process it.
  package var resendsMax = 32
  /// Bytes of an answer's body that are kept.
  package var bodyBytesMax = 4_096

  package init() {}

  /// Limits that fit the operator's settings.
  ///
  /// - Parameters:
  ///   - attemptTimeout: within it, a connection that stays silent is detected and an attempt to
  ///     connect is given up.
  ///   - probe: the engine reconnects within it to a provider that is back.
  package init(attemptTimeout: Span, probe: Span) {
    self.attemptTimeout = attemptTimeout
    let third = max(Self.silenceLeast, Span(milliseconds: attemptTimeout.milliseconds / 3))
    stallAfter = min(stallAfter, third)
    pongWithin = min(pongWithin, third)
    connectTimeout = min(connectTimeout, max(Self.connectLeast, attemptTimeout))
    reconnectMax = min(reconnectMax, max(reconnectFirst, probe))
  }

  /// The last part of an attempt's time, reserved for the answer: no request is sent in it.
  var answerReserve: Span {
    min(.seconds(1), Span(milliseconds: attemptTimeout.milliseconds / 4))
  }

  /// The least time even for short attempts: TLS with a distant provider takes a while.
  private static let connectLeast = Span.seconds(1)
  private static let silenceLeast = Span(milliseconds: 250)
}

package import RelayCore

/// Where and how a push engine connects. `EngineLimits` holds its sizes and times.
package struct EngineSettings: Sendable {
  package var host: String
  package var port: Int
  /// The path of a PEM file with the authorities to trust. `nil` means the system's authorities.
  package var trustRoots: String?
  package var clientCertificate: ClientCertificate?
  package var limits = EngineLimits()

  /// Paths of PEM files. In its file, the certificate may be followed by its chain.
  package struct ClientCertificate: Hashable, Sendable {
    package var certificate: String
    package var key: String

    package init(certificate: String, key: String) {
      self.certificate = certificate
      self.key = key
    }
  }

  func check() throws(PushProblem) {
    guard !host.isEmpty, (1...65_535).contains(port) else {
      throw PushProblem(
        .endpoint, "\(host):\(port) is no endpoint of a push provider",
        remedy: "give a host name and a port between 1 and 65535")
    }
    guard limits.connections > 0, limits.streamsMax > 0, limits.waitingMax > 0,
      limits.attemptTimeout > .zero, limits.connectTimeout > .zero
    else {
      throw PushProblem(
        .limit, "connections, streams, waiting pushes and timeouts of \(host) must be above zero",
        remedy: "leave the limit out to get its default")
    }
  }
}

/// Every bound of a push engine.
package struct EngineLimits: Hashable, Sendable {
  /// Connections kept open to the provider.
  package var connections = 2
  /// The most streams on one connection at once, even where the provider allows more.
  package var streamsMax = 500
  /// The most requests that wait for a connection or a free stream. The engine refuses more as
  /// `full`.
  package var waitingMax = 4_096
  /// The time from `send` to the outcome.
  package var attemptTimeout = Span.seconds(10)
  /// The time for TCP, TLS and the choice of protocol together.
  package var connectTimeout = Span.seconds(10)
  /// The engine pings a silent connection without requests after this time.
  package var idlePing = Span.hours(1)
  /// The engine pings a silent connection that has unanswered requests after this time.
  package var stallAfter = Span.seconds(3)
  /// The engine closes a pinged connection that stays silent for this time.
  package var pongWithin = Span.seconds(3)
  /// The wait before a second attempt to connect. The wait doubles up to `reconnectMax`.
  package var reconnectFirst = Span(milliseconds: 250)
  package var reconnectMax = Span.seconds(60)
  /// How long open requests may still finish when the engine stops.
  package var stopGrace = Span.seconds(2)
  /// The most times that the engine sends one request again. The engine does so only if the
  /// provider certainly did not process the request.
  package var resendsMax = 32
  /// The most bytes of an answer's body that the engine keeps.
  package var bodyBytesMax = 4_096

  package init() {}

  /// Limits that fit the operator's settings.
  ///
  /// - Parameters:
  ///   - attemptTimeout: the time of one attempt. The engine detects a silent connection and ends
  ///     an attempt to connect within this time. If this time is very short, fixed least times
  ///     apply instead.
  ///   - probe: the longest wait between two attempts to connect, so that the engine soon finds a
  ///     provider that is back.
  package init(attemptTimeout: Span, probe: Span) {
    self.attemptTimeout = attemptTimeout
    let third = max(Self.silenceLeast, Span(milliseconds: attemptTimeout.milliseconds / 3))
    stallAfter = min(stallAfter, third)
    pongWithin = min(pongWithin, third)
    connectTimeout = min(connectTimeout, max(Self.connectLeast, attemptTimeout))
    reconnectMax = min(reconnectMax, max(reconnectFirst, probe))
  }

  /// The last part of an attempt's time, reserved for the answer. The engine sends no request in
  /// this part.
  var answerReserve: Span {
    min(.seconds(1), Span(milliseconds: attemptTimeout.milliseconds / 4))
  }

  /// The least `connectTimeout`, even for short attempts: TLS with a distant provider takes a
  /// while.
  private static let connectLeast = Span.seconds(1)
  private static let silenceLeast = Span(milliseconds: 250)
}

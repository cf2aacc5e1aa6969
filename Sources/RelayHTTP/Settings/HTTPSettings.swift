package import RelayCore

/// All that the configuration says about HTTP, already validated.
package struct HTTPSettings: Sendable {
  /// Where devices and producers connect.
  package var listen: ListenTarget
  /// Nil: plain HTTP, for use behind a proxy.
  package var tls: TLSFiles?
  /// What courier addresses begin with, without a slash at the end.
  package var publicURL: String
  package var scopes: [Scope: ScopeAccess]
  package var limits: HTTPLimits
  /// The control socket's path; mode 0600.
  package var controlSocket: String
  /// A listener of its own for Prometheus text; nil: none.
  package var metrics: ListenTarget?
  package var version: String

  package init(
    listen: ListenTarget, tls: TLSFiles? = nil, publicURL: String,
    scopes: [Scope: ScopeAccess], limits: HTTPLimits = HTTPLimits(), controlSocket: String,
    metrics: ListenTarget? = nil, version: String
  ) {
    self.listen = listen
    self.tls = tls
    self.publicURL = publicURL
    self.scopes = scopes
    self.limits = limits
    self.controlSocket = controlSocket
    self.metrics = metrics
    self.version = version
  }
}

/// Where a server listens.
package enum ListenTarget: Hashable, Sendable, CustomStringConvertible {
  /// Port 0: the kernel chooses one.
  case tcp(host: String, port: Int)
  /// Sockets that are bound already, handed over by systemd: at least one.
  case inherited([Int32])

  package var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .inherited(let fds): "socket " + fds.map(String.init).joined(separator: ", ")
    }
  }
}

/// PEM files.
package struct TLSFiles: Hashable, Sendable {
  package var certificate: String
  package var key: String

  package init(certificate: String, key: String) {
    self.certificate = certificate
    self.key = key
  }
}

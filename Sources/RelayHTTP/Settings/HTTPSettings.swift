package import RelayCore

/// The HTTP part of the configuration, already validated.
package struct HTTPSettings: Sendable {
  /// Where devices and producers connect.
  package var listen: ListenTarget
  /// The files for TLS; `nil` means plain HTTP, for use behind a proxy.
  package var tls: TLSFiles?
  /// The URL with which every courier address begins, without a slash at the end.
  package var publicURL: String
  package var scopes: [Scope: ScopeAccess]
  package var limits: HTTPLimits
  /// The path of the control socket, whose file has mode 0600.
  package var controlSocket: String
  /// The address of the separate listener for Prometheus text; `nil` means that there is no such
  /// listener.
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
  /// A host and a port. Port 0 means that the kernel chooses a port.
  case tcp(host: String, port: Int)
  /// The descriptors of bound sockets that systemd has handed over: at least one.
  case inherited([Int32])

  package var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .inherited(let fds): "socket " + fds.map(String.init).joined(separator: ", ")
    }
  }
}

/// The paths of two PEM files: a certificate chain and its private key.
package struct TLSFiles: Hashable, Sendable {
  package var certificate: String
  package var key: String

  package init(certificate: String, key: String) {
    self.certificate = certificate
    self.key = key
  }
}

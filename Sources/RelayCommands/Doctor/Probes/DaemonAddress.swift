import RelayCurl
import RelayHTTP

/// How the doctor reaches the API of the daemon on this machine, past any proxy.
struct DaemonAddress: Sendable {
  let base: String
  private let connectTo: String?
  private let trustRoots: String?

  /// Nil if the port is not known: the configuration lets the system choose it.
  ///
  /// - Parameter listening: where the daemon listens in place of `server.listen`.
  init?(_ settings: Settings, listening: ListenAddress? = nil) {
    let listen = listening ?? settings.server.listen
    guard listen.port != 0 else { return nil }
    var own = listen
    // A client cannot connect to the address that stands for all interfaces.
    if listen.host == "0.0.0.0" { own.host = "127.0.0.1" }
    if listen.host == "::" { own.host = "::1" }
    guard let tls = settings.server.tls else {
      (base, connectTo, trustRoots) = ("http://\(own)", nil, nil)
      return
    }
    // The certificate names the public host, whose address perhaps only devices can look up.
    let named = settings.server.publicURL.flatMap { $0.hasPrefix("https://") ? $0 : nil }
    (base, connectTo, trustRoots) = (named ?? "https://\(own)", "\(own)", tls.certificate)
  }

  /// - Parameter path: begins with a slash.
  func request(_ method: String, _ path: String, timeout: Duration = Probes.timeout) -> HTTPRequest
  {
    var request = HTTPRequest(method, base + path, timeout: timeout, trustRoots: trustRoots)
    request.connectTo = connectTo
    return request
  }
}

import RelayWire

/// A request to send with ``HTTPClient``.
package struct HTTPRequest: Sendable {
  package var method: String
  /// An `http` or `https` URL. Over a Unix socket, the URL's host is used only for the Host header.
  package var url: String
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]
  /// The longest time of the whole exchange, from the start of connecting to the last byte; at
  /// least 1 ms. `nil` means that the exchange may last for any time.
  package var timeout: Duration?
  /// The path of the Unix socket to connect to in place of the URL's host.
  package var unixSocket: String?
  /// The path of a PEM file with the only certificate authorities to trust; `nil` means those of
  /// the system.
  package var trustRoots: String?
  /// The `host:port` to connect to in place of the URL's own; the Host header and the checked name
  /// of the server stay those of the URL.
  package var connectTo: String?

  package init(
    _ method: String, _ url: String, headers: [(name: String, value: String)] = [],
    body: [UInt8] = [], timeout: Duration? = .seconds(10), unixSocket: String? = nil,
    trustRoots: String? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
    self.unixSocket = unixSocket
    self.trustRoots = trustRoots
  }

  /// The part of the URL that errors show: scheme, host and port.
  package var place: String { WebOrigin.text(of: url) }
}

import Glibc

/// A host and a port, such as `127.0.0.1:8460`, `[::1]:8460` or `localhost:8460`.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
  package var host: String
  /// The port; 0 lets the system choose a port.
  package var port: Int
}

extension ListenAddress {
  /// Nil for anything but a host and a port from 0 to 65535.
  init?(text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }),
      let port = Int(digits), port <= 65_535
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
      guard host.contains(":") else { return nil }
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || $0 == "/" }) else { return nil }
    self.init(host: String(host), port: port)
  }

  /// True if only this machine can reach the address.
  var isLoopback: Bool {
    var bytes = in_addr()
    if inet_pton(AF_INET, host, &bytes) == 1 { return host.hasPrefix("127.") }
    return host == "localhost" || host == "::1"
  }

  package var description: String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}

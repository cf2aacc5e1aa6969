import CSystemd
import Glibc

/// Sockets that systemd opened for the daemon, by the name that the socket unit gives them
/// (`FileDescriptorName`).
package struct ListenSockets: Equatable, Sendable {
  /// Listening descriptors by name, as systemd handed them over: a name may have several, such as
  /// one for IPv4 and one for IPv6. The caller of `inherited` owns them.
  package let descriptors: [String: [Int32]]

  /// No sockets: the daemon opens its own.
  package static let none = ListenSockets(descriptors: [:])

  /// Takes the sockets of `LISTEN_FDS` and removes the variable from the environment.
  ///
  /// Call it once, before other threads run, because the call changes the environment.
  ///
  /// - Throws: ``SystemError`` if `LISTEN_FDS` or the sockets are not valid.
  package static func inherited() throws(SystemError) -> ListenSockets {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = sd_listen_fds_with_names(1, &names)
    guard count >= 0 else {
      throw SystemError(
        message: "the sockets of systemd cannot be taken: \(String(cString: strerror(-count)))",
        remedy: "check LISTEN_FDS and LISTEN_FDNAMES, or start without a socket unit")
    }
    var descriptors: [String: [Int32]] = [:]
    for index in 0..<Int(count) {
      let name = names?[index].map { String(cString: $0) } ?? "unknown"
      free(names?[index])
      descriptors[name, default: []].append(SD_LISTEN_FDS_START + Int32(index))
    }
    free(names)
    return ListenSockets(descriptors: descriptors)
  }

  /// The sockets of one name. Sockets of another name are an error: the system would accept
  /// connections that the daemon does not serve, and their clients would wait for ever.
  ///
  /// - Throws: ``SystemError`` if there is a socket of another name.
  package func only(_ name: String) throws(SystemError) -> [Int32] {
    guard let other = descriptors.keys.filter({ $0 != name }).min() else { return self[name] }
    throw SystemError(
      message: "systemd hands over a socket named \(other), which nothing here serves",
      remedy: "write FileDescriptorName=\(name) into its socket unit, or disable that unit")
  }

  /// The sockets of one name; empty if systemd handed over none.
  package subscript(name: String) -> [Int32] { descriptors[name] ?? [] }
}

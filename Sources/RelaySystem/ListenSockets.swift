import CSystemd
import Glibc

/// Sockets that systemd opened for the daemon, by the name of their unit (`FileDescriptorName`).
package struct ListenSockets: Equatable, Sendable {
  /// Listening descriptors by name. They belong to whoever asked for them.
  package let descriptors: [String: Int32]

  /// No sockets: the daemon opens its own.
  package static let none = ListenSockets(descriptors: [:])

  /// Takes what `LISTEN_FDS` hands over, and takes it out of the environment.
  ///
  /// Call once, before other threads run: it changes the environment.
  ///
  /// - Throws: ``SystemError`` if the hand-over is broken or two sockets have one name.
  package static func inherited() throws(SystemError) -> ListenSockets {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = sd_listen_fds_with_names(1, &names)
    guard count >= 0 else {
      throw SystemError(
        code: .listenSockets,
        message: "the sockets of systemd cannot be taken: \(String(cString: strerror(-count)))",
        remedy: "check LISTEN_FDS and LISTEN_FDNAMES, or start without a socket unit")
    }
    var descriptors: [String: Int32] = [:]
    for index in 0..<Int(count) {
      let name = names?[index].map { String(cString: $0) } ?? "unknown"
      free(names?[index])
      let first = descriptors.updateValue(SD_LISTEN_FDS_START + Int32(index), forKey: name)
      guard first == nil else {
        throw SystemError(
          code: .listenSockets, message: "systemd handed over two sockets named \(name)",
          remedy: "give each ListenStream a socket unit with a FileDescriptorName of its own")
      }
    }
    free(names)
    return ListenSockets(descriptors: descriptors)
  }

  package subscript(name: String) -> Int32? { descriptors[name] }
}

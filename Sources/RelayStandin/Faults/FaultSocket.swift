import Foundation
import Glibc
import NIOCore

/// Creates the file of the fault control's socket. From the creation of the file on, only its owner
/// can connect.
enum FaultSocket {
  /// Binds a socket at `path` with mode 0600. An old socket at `path` is replaced. A file of
  /// another kind at `path` stays, and the call fails.
  ///
  /// - Returns: the descriptor, not yet listening.
  static func bind(_ path: String) throws(StandinError) -> Int32 {
    let address: SocketAddress
    do {
      address = try SocketAddress(unixDomainSocketPath: path)
    } catch {
      throw failure(path, "\(error)")
    }
    if isSocket(path) { unlink(path) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw failure(path, String(cString: strerror(errno))) }
    // The kernel gives the file the mode that the socket has before `bind`; a chmod after `bind`
    // would be too late.
    guard fchmod(descriptor, S_IRUSR | S_IWUSR) == 0,
      address.withSockAddr({ Glibc.bind(descriptor, $0, socklen_t($1)) }) == 0
    else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw failure(path, reason)
    }
    return descriptor
  }

  static func failure(_ path: String, _ reason: String) -> StandinError {
    StandinError(
      code: .listen, message: "cannot listen on the socket \(path): \(reason)",
      remedy: "choose a path of at most 103 bytes in a directory that this user may write to")
  }

  private static func isSocket(_ path: String) -> Bool {
    // An error is ignored, because `bind` reports what is wrong with the path.
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.type] as? FileAttributeType == .typeSocket
  }
}

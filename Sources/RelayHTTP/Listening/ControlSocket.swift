import Foundation
import Glibc

/// Creates and removes the control socket's file. From the creation of the file on, only its owner
/// can connect.
package enum ControlSocket {
  /// Binds a socket at `path` with mode 0600. Removes a socket left by a daemon that has ended. If
  /// a process answers on the socket, or the file is no socket, the file stays and the call fails.
  ///
  /// - Returns: the descriptor, not yet listening.
  static func bind(_ path: String) throws(ListenError) -> Int32 {
    var address = try self.address(path)
    try removeStale(path, &address)
    let fd = open()
    guard fd >= 0 else { throw failure("create", path) }
    // The kernel gives the file the mode that the socket has before `bind`. So this code needs no
    // umask, and no chmod after `bind`, which would be too late.
    guard fchmod(fd, S_IRUSR | S_IWUSR) == 0, call(Glibc.bind, fd, &address) == 0 else {
      let error = failure("bind", path)
      close(fd)
      throw error
    }
    return fd
  }

  /// Removes the socket's file after the daemon has stopped listening. A missing file is no error.
  static func remove(_ path: String) { unlink(path) }

  private static func removeStale(
    _ path: String, _ address: inout sockaddr_un
  ) throws(ListenError) {
    if let refusal = refusal(of: path) { throw refusal }
    guard kind(at: path) != nil else { return }
    let fd = open()
    guard fd >= 0 else { throw failure("create", path) }
    defer { close(fd) }
    guard call(connect, fd, &address) != 0 else {
      throw ListenError(
        description: "another daemon answers on \(path); stop it, or choose another path")
    }
    guard errno == ECONNREFUSED || errno == ENOENT else { throw failure("probe", path) }
    unlink(path)
  }

  /// The error if the file at this path is not a socket; `nil` if there is no file, if the file is
  /// a socket, or if the file's type cannot be read.
  package static func refusal(of path: String) -> ListenError? {
    guard let kind = kind(at: path), kind != .typeSocket else { return nil }
    return ListenError(
      description: "\(path) is no socket; choose another path for the control socket")
  }

  /// The type of the file at `path`; `nil` if there is no file or its type cannot be read.
  private static func kind(at path: String) -> FileAttributeType? {
    // An error is ignored, because `bind` reports what is wrong with the path. Do not use `lstat`:
    // in a release build the type `stat` belongs to a module of NIO that this file does not import.
    (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
  }

  private static func open() -> Int32 {
    socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  }

  private static func address(_ path: String) throws(ListenError) -> sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let room = MemoryLayout.size(ofValue: address.sun_path) - 1
    guard 1...room ~= bytes.count else {
      throw ListenError(
        description: "the control socket's path must have 1 to \(room) bytes: \(path)")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return address
  }

  private static func call(
    _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ fd: Int32,
    _ address: inout sockaddr_un
  ) -> Int32 {
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        function(fd, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private static func failure(_ verb: String, _ path: String) -> ListenError {
    ListenError(
      description: "cannot \(verb) the control socket \(path): \(String(cString: strerror(errno)))")
  }
}

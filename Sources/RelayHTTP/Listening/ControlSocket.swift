import Foundation
import Glibc

/// The control socket's file. From the first moment on, only its owner can connect.
package enum ControlSocket {
  /// Binds a socket at `path` with mode 0600. Removes a file left by a daemon that is gone. A
  /// socket on which a process answers, or a file that is no socket, stays.
  ///
  /// - Returns: the descriptor, not yet listening.
  static func bind(_ path: String) throws(ListenError) -> Int32 {
    var address = try self.address(path)
    try removeStale(path, &address)
    let fd = open()
    guard fd >= 0 else { throw failure("create", path) }
    // The kernel gives the file the mode of the unbound socket, so this needs no umask, and no
    // chmod that would come too late.
    guard fchmod(fd, S_IRUSR | S_IWUSR) == 0, call(Glibc.bind, fd, &address) == 0 else {
      let error = failure("bind", path)
      close(fd)
      throw error
    }
    return fd
  }

  /// Removes the daemon's own file after it has stopped listening. A missing file is no error.
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
      throw ListenError("another daemon answers on \(path); stop it, or choose another path")
    }
    guard errno == ECONNREFUSED || errno == ENOENT else { throw failure("probe", path) }
    unlink(path)
  }

  /// The error if something other than a socket stays at this path; nil if a socket can take the
  /// path, as far as this check can tell.
  package static func refusal(of path: String) -> ListenError? {
    guard let kind = kind(at: path), kind != .typeSocket else { return nil }
    return ListenError("\(path) is no socket; choose another path for the control socket")
  }

  /// The type of the file at `path`; nil if there is none, or if binding reports the problem.
  private static func kind(at path: String) -> FileAttributeType? {
    // If the attributes cannot be read, go on: binding reports what is wrong with the path. Do not
    // use `lstat`: in a release build the type `stat` belongs to the module that was loaded first.
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
      throw ListenError("the control socket's path must have 1 to \(room) bytes: \(path)")
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
    ListenError("cannot \(verb) the control socket \(path): \(String(cString: strerror(errno)))")
  }
}

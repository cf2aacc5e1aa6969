import Glibc

/// Standard error as systemd names a stream: device and inode. This type has a file of its own
/// because with Foundation the compiler finds two modules that declare `stat`.
enum ErrorStream {
  static var identity: String {
    var status = stat()
    fstat(STDERR_FILENO, &status)
    return "\(status.st_dev):\(status.st_ino)"
  }
}

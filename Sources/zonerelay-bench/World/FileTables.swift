import Foundation
import NIOCore
import NIOPosix

/// Event loops with one open-file table each. On Linux the limit of open files (`ulimit -n`)
/// applies to a table, and a thread may have a table of its own.
enum FileTables {
  private static let cloneFiles: Int32 = 0x400

  /// Makes loops, each on a thread with an open-file table of its own. No other thread can use what
  /// a loop opens, so each loop makes its connections itself. A loop that resumes a waiting task
  /// can start a thread that shares the loop's table. So tasks wait for futures on `home` only.
  ///
  /// The loops last as long as the program.
  static func loops(_ count: Int, home: any EventLoop) async throws -> [any EventLoop] {
    // The Glibc module does not declare `unshare`.
    guard let symbol = dlsym(nil, "unshare") else {
      throw BenchError("this system has no unshare(2); say --tables 1")
    }
    let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
    // A loop is woken through a file that the loop opens when it is made. Therefore all loops are
    // made first: each table that `unshare` copies then has these files of all loops.
    let loops = Array(MultiThreadedEventLoopGroup(numberOfThreads: count).makeIterator())
    for loop in loops {
      let code = try await loop.submit { unshare(cloneFiles) == 0 ? 0 : errno }
        .hop(to: home).get()
      guard code == 0 else {
        throw BenchError("no table of open files of its own: \(String(cString: strerror(code)))")
      }
    }
    return loops
  }
}

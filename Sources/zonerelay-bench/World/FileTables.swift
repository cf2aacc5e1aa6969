import Foundation
import NIOCore
import NIOPosix

/// Event loops with a table of open files each: on Linux the limit of open files (`ulimit -n`)
/// bounds a table, and a thread may have one of its own.
enum FileTables {
  private static let cloneFiles: Int32 = 0x400

  /// What such a loop opens is known to it alone, so connections are made on it. A thread that it
  /// started would share its table: nobody waits for its futures but by way of `home`.
  ///
  /// They last as long as the program.
  static func loops(_ count: Int, home: any EventLoop) async throws -> [any EventLoop] {
    // The Glibc module does not show it.
    guard let symbol = dlsym(nil, "unshare") else {
      throw Trouble("this system has no unshare(2); say --tables 1")
    }
    let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
    // All have been made when the first leaves: what wakes them is in every table.
    let loops = Array(MultiThreadedEventLoopGroup(numberOfThreads: count).makeIterator())
    for loop in loops {
      let code = try await loop.submit { unshare(cloneFiles) == 0 ? 0 : errno }
        .hop(to: home).get()
      guard code == 0 else {
        throw Trouble("no table of open files of its own: \(String(cString: strerror(code)))")
      }
    }
    return loops
  }
}

import Foundation

/// The APNs stand-in, as a process of its own.
struct Standin {
  let child: Child
  private let port: Int
  private let directory: URL

  /// - Parameter name: distinguishes stand-ins that run at the same time.
  static func start(_ bench: Workbench, name: String = "apns") async throws -> Standin {
    let directory = try bench.emptyDirectory(name)
    let port = try Loopback.freePort()
    let child = try bench.start(
      bench.options.daemonPath,
      [
        "apns-standin", "--listen", "\(Loopback.address):\(port)", "--directory", directory.path,
      ], name: "\(name)-standin")
    // The stand-in listens only after it has made its files.
    try Loopback.waitForListener(on: port, by: child, name: "apns-standin")
    return Standin(child: child, port: port, directory: directory)
  }

  /// The configuration lines of a route, for a daemon that pushes to this stand-in.
  var route: String {
    """
            apns:
              - topic: \(MeasuredDaemon.topic)
                key: { path: \(file("AuthKey.p8")), keyID: ABCDE12345, teamID: TEAM123456 }
                endpoint: https://\(Loopback.address):\(port)
                trustRoots: \(file("ca.pem"))
    """
  }

  /// The number of pushes received, once no push has come for 4 s, which is longer than any window.
  func settledPushes() async throws -> Int {
    let deadline = ContinuousClock.now + .seconds(40)
    var (known, since) = (count, ContinuousClock.now)
    while .now < deadline {
      if .now - since > .seconds(4) { return known }
      try await ContinuousClock().sleep(for: .milliseconds(100))
      let seen = count
      if seen != known { (known, since) = (seen, .now) }
    }
    throw BenchError("pushes still come 40 s after the burst: \(known) so far")
  }

  /// The file in which the stand-in records pushes.
  var pushes: String { file("pushes.jsonl") }

  /// The number of pushes received so far.
  var count: Int {
    // Until the stand-in has started there is no log, and no push.
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: pushes)) else { return 0 }
    return data.count { $0 == UInt8(ascii: "\n") }
  }

  private func file(_ name: String) -> String { directory.appendingPathComponent(name).path }
}

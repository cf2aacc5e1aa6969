import Foundation

/// The APNs look-alike, as a process of its own.
struct Standin {
  let child: Child
  private let port: Int
  private let directory: URL

  static func start(_ bench: Workbench) async throws -> Standin {
    let directory = try bench.emptyDirectory("apns")
    let port = try Loopback.freePort()
    let child = try bench.start(
      bench.options.daemonPath,
      [
        "apns-standin", "--listen", "\(Loopback.address):\(port)", "--directory", directory.path,
      ], name: "apns-standin")
    // It listens last: its files are there by then.
    try Loopback.waitForListener(on: port, by: child, name: "apns-standin")
    return Standin(child: child, port: port, directory: directory)
  }

  /// Lines of configuration for a daemon that pushes here.
  var route: String {
    """
            apns:
              - topic: \(MeasuredDaemon.topic)
                key: { path: \(file("AuthKey.p8")), keyID: ABCDE12345, teamID: TEAM123456 }
                endpoint: https://\(Loopback.address):\(port)
                trustRoots: \(file("ca.pem"))
    """
  }

  /// How many pushes it took, once no more have come for longer than any window.
  func settledPushes() async throws -> Int {
    let deadline = ContinuousClock.now + .seconds(40)
    var (known, since) = (count, ContinuousClock.now)
    while .now < deadline {
      if .now - since > .seconds(4) { return known }
      try await ContinuousClock().sleep(for: .milliseconds(100))
      let seen = count
      if seen != known { (known, since) = (seen, .now) }
    }
    throw Trouble("pushes still come 40 s after the burst: \(known) so far")
  }

  /// The file in which it records pushes.
  var pushes: String { file("pushes.jsonl") }

  /// How many pushes it took so far.
  var count: Int {
    // Nothing was pushed yet.
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: pushes)) else {
      return 0
    }
    return data.count { $0 == UInt8(ascii: "\n") }
  }

  private func file(_ name: String) -> String { directory.appendingPathComponent(name).path }
}

import Foundation

/// An installed program that a measurement needs.
enum Tool: String {
  case nghttpd
  case h2load
  case openssl
  case redisServer = "redis-server"
  case redisBenchmark = "redis-benchmark"
  case natsServer = "nats-server"

  /// The name of the program's Debian package.
  private var package: String {
    switch self {
    case .nghttpd: "nghttp2-server"
    case .h2load: "nghttp2-client"
    case .openssl: "openssl"
    case .redisServer: "redis-server"
    case .redisBenchmark: "redis-tools"
    case .natsServer: "nats-server"
    }
  }

  /// The path of the program, found in `PATH` or in directories of servers that a user's `PATH` may
  /// lack.
  func find() throws -> String {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
    let places = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"]
    for place in places {
      let file = "\(place)/\(rawValue)"
      if FileManager.default.isExecutableFile(atPath: file) { return file }
    }
    throw BenchError("\(rawValue) is not installed; install the package \(package)")
  }
}

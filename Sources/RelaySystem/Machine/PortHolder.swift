import Foundation

/// Finds the process that listens on a TCP port of this machine.
package enum PortHolder {
  /// The process that listens on the port; `preferred` if it is one of several.
  ///
  /// - Returns: nil if no process listens, or if this user may not see which one does.
  package static func find(port: Int, preferred: Int32?) -> OtherProcess? {
    let sockets = Set(
      ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { path in
        // A kernel without IPv6 has no second table.
        listening(in: (try? String(contentsOfFile: path, encoding: .utf8)) ?? "", port: port)
      })
    guard !sockets.isEmpty else { return nil }
    // Without /proc nothing can be said.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    let all = names.compactMap { Int32($0) }.sorted().filter { $0 != preferred }
    return ([preferred].compactMap(\.self) + all).lazy.map { OtherProcess($0) }
      .first { $0.holds(sockets) }
  }

  /// The sockets of `/proc/net/tcp` that listen on a port, as links of `/proc/PID/fd` name them.
  static func listening(in table: String, port: Int) -> [String] {
    table.split(separator: "\n").dropFirst().compactMap { line in
      let words = line.split(separator: " ")
      guard words.count > 9, words[3] == listenState,
        let colon = words[1].lastIndex(of: ":"),
        Int(words[1][words[1].index(after: colon)...], radix: 16) == port
      else { return nil }
      return "socket:[\(words[9])]"
    }
  }

  /// TCP_LISTEN.
  private static let listenState = "0A"
}

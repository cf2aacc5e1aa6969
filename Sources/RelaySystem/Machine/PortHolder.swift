import Foundation
import Glibc

/// Finds the process that listens on a TCP port of this machine.
package enum PortHolder {
  /// The process that listens on the port; `preferred` if it is one of several.
  ///
  /// - Returns: nil if no process listens, or if this user may not see which one does.
  package static func find(port: Int, preferred: Int32?) -> OtherProcess? {
    let sockets = Set(tables.flatMap { listening(in: $0, port: port) })
    guard !sockets.isEmpty else { return nil }
    // Without /proc the process cannot be found.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    let all = names.compactMap { Int32($0) }.sorted().filter { $0 != preferred }
    return ([preferred].compactMap(\.self) + all).lazy.map { OtherProcess($0) }
      .first { $0.holds(sockets) }
  }

  /// The TCP addresses that a process listens on; empty if this user may not see them.
  package static func addresses(of process: OtherProcess) -> [(host: String, port: Int)] {
    let own = process.sockets
    return tables.flatMap { listening(in: $0) }.filter { own.contains($0.link) }
      .map { ($0.host, $0.port) }
  }

  /// True if any process listens on the port.
  package static func isTaken(port: Int) -> Bool {
    tables.contains { !listening(in: $0, port: port).isEmpty }
  }

  /// The kernel's tables of TCP sockets.
  private static var tables: [String] {
    ["/proc/net/tcp", "/proc/net/tcp6"].compactMap { path in
      // A kernel without IPv6 has no `/proc/net/tcp6`.
      try? String(contentsOfFile: path, encoding: .utf8)
    }
  }

  /// The sockets that listen on a port, according to a table, named as links in `/proc/PID/fd`.
  static func listening(in table: String, port: Int) -> [String] {
    listening(in: table).filter { $0.port == port }.map(\.link)
  }

  /// A socket that listens: its link in `/proc/PID/fd`, and its address.
  typealias Listening = (link: String, host: String, port: Int)

  static func listening(in table: String) -> [Listening] {
    table.split(separator: "\n").dropFirst().compactMap { line in
      let words = line.split(separator: " ")
      guard words.count > 9, words[3] == listenState else { return nil }
      let address = words[1].split(separator: ":")
      guard address.count == 2, let host = host(address[0]), let port = Int(address[1], radix: 16)
      else { return nil }
      return ("socket:[\(words[9])]", host, port)
    }
  }

  /// Reads an address that the kernel prints as one number of 32 bits for IPv4, or as four for
  /// IPv6. The four bytes of a number are in the network's order, but the kernel prints them as if
  /// they were in this machine's order.
  private static func host(_ digits: Substring) -> String? {
    let starts = stride(from: 0, to: digits.utf8.count, by: 8)
    let numbers = starts.compactMap { UInt32(digits.dropFirst($0).prefix(8), radix: 16) }
    guard numbers.count * 8 == digits.utf8.count, [1, 4].contains(numbers.count) else { return nil }
    let family = numbers.count == 1 ? AF_INET : AF_INET6
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
      numbers.withUnsafeBytes {
        inet_ntop(family, $0.baseAddress, text.baseAddress, socklen_t(text.count))
      }.map { String(cString: $0) }
    }
  }

  /// The kernel's number for the state of a socket that listens (TCP_LISTEN).
  private static let listenState = "0A"
}

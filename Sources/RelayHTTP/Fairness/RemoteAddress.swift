import NIOCore
import RelayCore

/// The source of a connection, as limits for each address count it: an IPv4 address, or the first
/// 64 bits of an IPv6 address, because all addresses with these bits usually belong to one customer
/// of an Internet provider.
struct RemoteAddress: Hashable, Sendable {
  private let prefix: UInt64
  private let isV4: Bool
  /// False for loopback, private and shared addresses: such an address may be a proxy for many
  /// callers.
  let isPublic: Bool

  /// - Returns: nil for a Unix socket.
  init?(_ address: SocketAddress?) {
    switch address {
    // The fields of the C structure belong to the C library's module or to NIO's, depending on
    // which of the two the compiler loads first, and a file may use only fields of a module that it
    // imports. So this code reads bytes, whose layout is always the same.
    case .v4(let address): self.init(withUnsafeBytes(of: address.address) { Array($0[4..<8]) })
    case .v6(let address): self.init(withUnsafeBytes(of: address.address) { Array($0[8..<24]) })
    case .unixDomainSocket, nil: return nil
    }
  }

  /// - Parameter bytes: four bytes of IPv4 or sixteen of IPv6.
  init(_ bytes: [UInt8]) {
    let isMapped =
      bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10...11] == [0xff, 0xff]
    let bytes = isMapped ? Array(bytes[12...]) : bytes
    isV4 = bytes.count == 4
    isPublic = InternetAddress.isPublic(bytes)
    prefix = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

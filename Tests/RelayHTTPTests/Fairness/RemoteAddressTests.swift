import NIOCore
import NIOEmbedded
import Testing

@testable import RelayHTTP

@Suite struct RemoteAddressTests {
  private func remote(_ text: String, port: Int = 1) throws -> RemoteAddress {
    try #require(RemoteAddress(try SocketAddress(ipAddress: text, port: port)))
  }

  @Test func `an address is the same from every port`() throws {
    #expect(try remote("8.8.8.8", port: 1) == remote("8.8.8.8", port: 2))
    #expect(try remote("8.8.8.8") != remote("8.8.8.9"))
    #expect(try remote("8.8.8.8") == remote("::ffff:8.8.8.8"))
  }

  /// One customer of an internet provider can use all IPv6 addresses with the same first 64 bits.
  @Test func `IPv6 addresses with the same first 64 bits count as one address`() throws {
    #expect(try remote("2a00:1450:1:2::1") == remote("2a00:1450:1:2:ffff::1"))
    #expect(try remote("2a00:1450:1:2::1") != remote("2a00:1450:1:3::1"))
  }

  @Test func `loopback and private addresses do not count as public`() throws {
    for text in ["127.0.0.1", "10.1.2.3", "192.168.0.1", "::1", "fd00::1", "::ffff:10.0.0.1"] {
      #expect(try !remote(text).isPublic, "\(text)")
    }
    for text in ["8.8.8.8", "2a00:1450:1:2::1"] { #expect(try remote(text).isPublic, "\(text)") }
    #expect(RemoteAddress(try SocketAddress(unixDomainSocketPath: "/x")) == nil)
  }

  /// One public address cannot open all connections. Other addresses have no limit of their own,
  /// because all callers behind a proxy have the proxy's address.
  ///
  /// Limit: limits.connectionsPerAddress
  @Test func `only a public address is limited to a share of the connections`() throws {
    let connections = Connections(countMax: 7, perAddress: 2)
    func connect(from text: String) throws -> EmbeddedChannel? {
      let channel = EmbeddedChannel()
      channel.remoteAddress = try SocketAddress(ipAddress: text, port: 1)
      return connections.add(channel) ? channel : nil
    }
    let first = try #require(try connect(from: "8.8.8.8"))
    #expect(try connect(from: "8.8.8.8") != nil)
    #expect(try connect(from: "8.8.8.8") == nil)
    #expect(try connect(from: "8.8.4.4") != nil)
    // The address of a closed channel does not matter.
    first.remoteAddress = nil
    connections.remove(first)
    #expect(try connect(from: "8.8.8.8") != nil)
    #expect(try connect(from: "8.8.8.8") == nil)
    for _ in 0..<4 { #expect(try connect(from: "10.0.0.1") != nil) }
    #expect(try connect(from: "10.0.0.1") == nil, "the bound of all holds for proxies too")
    #expect(connections.count == 7)
  }
}

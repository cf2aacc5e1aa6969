import RelayCore
import Testing

@Suite struct InternetAddressTests {
  private static func v6(_ words: UInt16...) -> [UInt8] {
    words.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
  }

  @Test(arguments: [
    [0, 0, 0, 0], [0, 1, 2, 3], [10, 0, 0, 1], [100, 64, 0, 1], [100, 127, 255, 255],
    [127, 0, 0, 1], [127, 255, 1, 2], [169, 254, 169, 254], [172, 16, 0, 1], [172, 31, 255, 255],
    [192, 0, 0, 8], [192, 0, 2, 1], [192, 88, 99, 1], [192, 168, 1, 1], [198, 18, 0, 1],
    [198, 19, 255, 1], [198, 51, 100, 7], [203, 0, 113, 7], [224, 0, 0, 1], [239, 1, 1, 1],
    [240, 0, 0, 1], [255, 255, 255, 255], [], [1, 2, 3],
  ])
  func `a private or reserved IPv4 address is not public`(bytes: [UInt8]) {
    #expect(!InternetAddress.isPublic(bytes))
    guard bytes.count == 4 else { return }
    let words = (UInt16(bytes[0]) << 8 | UInt16(bytes[1]), UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
    #expect(!InternetAddress.isPublic(Self.v6(0, 0, 0, 0, 0, 0xffff, words.0, words.1)))
    #expect(!InternetAddress.isPublic(Self.v6(0x64, 0xff9b, 0, 0, 0, 0, words.0, words.1)))
    #expect(!InternetAddress.isPublic(Self.v6(0x2002, words.0, words.1, 0, 0, 0, 0, 1)))
  }

  @Test(arguments: [
    v6(0, 0, 0, 0, 0, 0, 0, 0), v6(0, 0, 0, 0, 0, 0, 0, 1), v6(0, 0, 0, 0, 0, 0, 0x0808, 0x0808),
    v6(0x64, 0xff9b, 1, 0, 0, 0, 0x0808, 0x0808), v6(0x100, 0, 0, 0, 0, 0, 0, 1),
    v6(0x2001, 0, 0x4136, 0xe378, 0, 0, 0, 1), v6(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
    v6(0x3fff, 0xfff, 0, 0, 0, 0, 0, 1), v6(0xfc00, 0, 0, 0, 0, 0, 0, 1),
    v6(0xfd12, 0, 0, 0, 0, 0, 0, 1), v6(0xfe80, 0, 0, 0, 0, 0, 0, 1),
    v6(0xfec0, 0, 0, 0, 0, 0, 0, 1), v6(0xff02, 0, 0, 0, 0, 0, 0, 1),
  ])
  func `a private or reserved IPv6 address is not public`(bytes: [UInt8]) {
    #expect(!InternetAddress.isPublic(bytes))
  }

  @Test(arguments: [
    [8, 8, 8, 8], [1, 1, 1, 1], [100, 63, 0, 1], [100, 128, 0, 1], [172, 15, 0, 1],
    [172, 32, 0, 1], [192, 0, 1, 1], [198, 17, 0, 1], [198, 20, 0, 1], [223, 255, 255, 255],
    v6(0x2606, 0x4700, 0, 0, 0, 0, 0, 0x1111), v6(0x2001, 0x4860, 0, 0, 0, 0, 0, 0x8888),
    v6(0, 0, 0, 0, 0, 0xffff, 0x0808, 0x0808), v6(0x64, 0xff9b, 0, 0, 0, 0, 0x0808, 0x0808),
    v6(0x2002, 0x0808, 0x0808, 0, 0, 0, 0, 1), v6(0x3fff, 0x1000, 0, 0, 0, 0, 0, 1),
  ])
  func `a global address is public`(bytes: [UInt8]) {
    #expect(InternetAddress.isPublic(bytes))
  }

  @Test func `a Web Push token decodes to the subscription that it encodes`() {
    let subscription = WebSubscription(
      endpoint: "https://push.example.net/ü/1", publicKey: Array(repeating: 4, count: 65),
      secret: Array(repeating: 7, count: 16))
    #expect(WebSubscription(token: subscription.token) == subscription)
    #expect(WebSubscription(token: Array(subscription.token.prefix(81))) == nil)
    #expect(WebSubscription(token: []) == nil)
  }
}

/// Which addresses the relay may connect to when a client names them.
package enum InternetAddress {
  /// True for an address that is reachable from the whole internet: four bytes of IPv4 or sixteen
  /// of IPv6. False for loopback, private, shared, link-local, multicast, unspecified,
  /// documentation and reserved addresses, for those that embed such an IPv4 address, and for any
  /// other bytes.
  package static func isPublic(_ bytes: [UInt8]) -> Bool {
    switch bytes.count {
    case 4: isPublicV4(bytes)
    case 16: isPublicV6(bytes)
    default: false
    }
  }

  /// False for multicast addresses, and for the addresses that the registry of special-purpose
  /// addresses lists (RFC 6890 and its successors).
  private static func isPublicV4(_ bytes: [UInt8]) -> Bool {
    switch (bytes[0], bytes[1], bytes[2]) {
    case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): false
    case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _): false
    case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 18...19, _), (198, 51, 100), (203, 0, 113):
      false
    default: true
    }
  }

  private static func isPublicV6(_ bytes: [UInt8]) -> Bool {
    let words = stride(from: 0, to: 16, by: 2).map {
      UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
    }
    // In translated (64:ff9b::/96), tunnelled (2002::/16) and mapped (::ffff:0:0/96) addresses, the
    // embedded IPv4 address decides.
    if words[0] == 0x64, words[1] == 0xff9b, words[2..<6].allSatisfy({ $0 == 0 }) {
      return isPublicV4(Array(bytes[12...]))
    }
    if words[0] == 0x2002 { return isPublicV4(Array(bytes[2..<6])) }
    if words[..<5].allSatisfy({ $0 == 0 }), words[5] == 0xffff {
      return isPublicV4(Array(bytes[12...]))
    }
    // Only 2000::/3 is assigned. In this range, 2001::/23 is for protocols, and 2001:db8::/32 and
    // 3fff::/20 are for documentation.
    guard bytes[0] & 0xe0 == 0x20 else { return false }
    if words[0] == 0x2001 { return words[1] >= 0x200 && words[1] != 0xdb8 }
    return !(words[0] == 0x3fff && words[1] < 0x1000)
  }
}

import Foundation
import Testing

@testable import RelayStore

/// The keys of the store's rows.
@Suite struct StoreKeyTests {
  /// A read of all rows whose keys begin with one key ends before the end of that key. The end is
  /// empty if no key is greater.
  @Test(arguments: [
    (bytes: [1, 2] as [UInt8], end: [1, 3] as [UInt8]), ([1, 0xff], [2]), ([1, 0xfe], [1, 0xff]),
    ([0xff, 0xff], []),
  ])
  func `the end of a key is the least greater key that does not begin with it`(
    bytes: [UInt8], end: [UInt8]
  ) {
    var key = StoreKey()
    for byte in bytes { key.byte(byte) }
    #expect(key.end == Data(end))
  }
}

import Foundation
import Testing

@testable import RelayStore

/// The keys of the store's rows.
@Suite struct StoreKeyTests {
  /// `StoreKey.end` is the upper bound of a read of all rows whose keys begin with a given key: the
  /// read ends before the bound. The bound is empty if no key is greater than all of those keys.
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

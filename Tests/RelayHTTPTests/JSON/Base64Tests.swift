import Foundation
import RelayCore
import RelayWire
import Testing

@Suite struct Base64Tests {
  @Test func `base64 texts equal Foundation's and decode to the same bytes`() {
    var random = SplitMix64(seed: 64)
    for count in 0..<200 {
      let bytes = (0..<count % 50).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(Base64.text(bytes) == Data(bytes).base64EncodedString())
      #expect(Base64.bytes(Base64.text(bytes)) == bytes)
      #expect(Base64.bytes(Base64.urlText(bytes)) == bytes)
    }
  }

  @Test(arguments: [
    "A", "AA=", "AA===", "A===", "=", "AAAA=", "AB==", "AAB=", "A A=", "AA=A", "é", "AA\n==",
  ])
  func `a text that is not base64 is refused`(text: String) {
    #expect(Base64.bytes(text) == nil)
  }
}

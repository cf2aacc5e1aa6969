import Crypto
import Foundation
import RelayCore
import Testing

@testable import RelayPush

@Suite struct SealedRecordTests {
  private static func bytes(_ text: String) -> [UInt8] { Base64URL.bytes(Substring(text)) ?? [] }

  private static let subscription = WebSubscription(
    endpoint: "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV",
    publicKey: bytes(
      "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
    secret: bytes("BTBZMqHH6r4Tts7J_aSIgg"))

  /// RFC 8291, section 5 and appendix A.
  @Test func `the sealed record equals the example of RFC 8291`() throws {
    let key = try P256.KeyAgreement.PrivateKey(
      rawRepresentation: Self.bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
    let sealed = try SealedRecord.seal(
      Array("When I grow up, I want to be a watermelon".utf8), for: Self.subscription, with: key,
      salt: Self.bytes("DGv6ra1nlYgDCS1FRnbzlw"))
    #expect(
      Base64URL.text(sealed)
        == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml"
        + "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
        + "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
  }

  @Test func `the largest plaintext fills the record, and one more byte is refused`() throws {
    #expect(SealedRecord.plaintextBytesMax == 3_993)
    #expect(Transport.webpush.payloadBytesMax == SealedRecord.plaintextBytesMax)
    let largest = [UInt8](repeating: 0x20, count: SealedRecord.plaintextBytesMax)
    #expect(try SealedRecord.seal(largest, for: Self.subscription).count == 4_096)
    #expect(throws: TransportFailure.self) {
      try SealedRecord.seal(largest + [0x20], for: Self.subscription)
    }
  }

  @Test func `no two messages share a key or a salt`() throws {
    let first = try SealedRecord.seal([1], for: Self.subscription)
    let second = try SealedRecord.seal([1], for: Self.subscription)
    #expect(first.prefix(16) != second.prefix(16))
    #expect(first[21..<86] != second[21..<86])
  }

  @Test func `a public key that is not on the curve is refused`() {
    var wrong = Self.subscription
    wrong.publicKey[64] ^= 1
    #expect(throws: TransportFailure.self) { try SealedRecord.seal([1], for: wrong) }
  }
}

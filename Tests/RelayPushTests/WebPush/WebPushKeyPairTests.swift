import Crypto
import Foundation
import Testing

@testable import RelayPush

/// The halves of a VAPID key.
@Suite struct WebPushKeyPairTests {
  private func check(_ pem: String) throws {
    try WebPushKeyPair.check(
      pem: pem, WebPushSettings(subject: "mailto:operator@example.com", key: pem))
  }

  @Test func `a key that the command makes has halves that belong together`() throws {
    try check(WebPushKeys().privateKey)
  }

  /// openssl writes a key in the older form SEC 1, which names the key's public half as well.
  @Test func `a key in SEC 1 form has halves that belong together`() throws {
    let key = P256.Signing.PrivateKey()
    try check(Self.sec1(key, naming: key.publicKey))
  }

  @Test func `a file that names another key's public half is found`() throws {
    let (key, other) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    let error = #expect(throws: PushProblem.self) {
      try check(Self.sec1(key, naming: other.publicKey))
    }
    #expect(error?.code == .keyPair)
    let named = Base64URL.text(other.publicKey.x963Representation)
    #expect(error?.message.contains(named) == true)
  }

  /// An ECPrivateKey (RFC 5915): version, private half, curve, public half.
  private static func sec1(
    _ key: P256.Signing.PrivateKey, naming publicKey: P256.Signing.PublicKey
  ) -> String {
    var bytes: [UInt8] = [0x30, 0x77, 0x02, 0x01, 0x01, 0x04, 0x20]
    bytes += key.rawRepresentation
    bytes += [0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
    bytes += [0xa1, 0x44, 0x03, 0x42, 0x00]
    bytes += publicKey.x963Representation
    let text = Data(bytes).base64EncodedString(options: .lineLength64Characters)
    return "-----BEGIN EC PRIVATE KEY-----\n\(text)\n-----END EC PRIVATE KEY-----\n"
  }
}

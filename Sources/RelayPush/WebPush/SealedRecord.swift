package import Crypto
import Foundation
package import RelayCore

/// A message that only the browser can decrypt: `aes128gcm` with one record (RFC 8188). We derive
/// the message's key from a key of ours and from the browser's public key and secret (RFC 8291).
package enum SealedRecord {
  /// The header's bytes: salt 16, record size 4, length of the key 1, our public key 65.
  package static let headerBytes = 86
  /// The size that every push service must accept (RFC 8030, section 7.2), header included.
  package static let bytesMax = 4_096
  /// The bytes of the last record's delimiter and of the cipher's tag.
  private static let overheadBytes = 17
  package static let plaintextBytesMax = bytesMax - headerBytes - overheadBytes

  /// Encrypts `plaintext`. By default each message gets a new key and a new salt, as RFC 8188 and
  /// RFC 8291 require.
  ///
  /// - Parameters:
  ///   - key: the caller must never use it twice.
  ///   - salt: 16 random bytes.
  /// - Throws: an error if the subscription's key is not a point of the curve, or the plaintext is
  ///   too long.
  package static func seal(
    _ plaintext: [UInt8], for subscription: WebSubscription,
    with key: P256.KeyAgreement.PrivateKey = P256.KeyAgreement.PrivateKey(),
    salt: [UInt8] = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
  ) throws -> [UInt8] {
    guard plaintext.count <= plaintextBytesMax else {
      throw TransportFailure(.invalid, "the payload has more than \(plaintextBytesMax) bytes")
    }
    let theirs: P256.KeyAgreement.PublicKey
    do {
      theirs = try P256.KeyAgreement.PublicKey(x963Representation: subscription.publicKey)
    } catch {
      throw TransportFailure(.invalid, "the subscription's key is no point of P-256")
    }
    let ours = Array(key.publicKey.x963Representation)
    let shared = try key.sharedSecretFromKeyAgreement(with: theirs)
    let input = derive(
      SymmetricKey(data: shared.withUnsafeBytes { Data($0) }), salt: subscription.secret,
      info: Array("WebPush: info\0".utf8) + subscription.publicKey + ours, count: 32)
    let cipherKey = derive(
      input, salt: salt, info: Array("Content-Encoding: aes128gcm\0".utf8), count: 16)
    let nonce = derive(
      input, salt: salt, info: Array("Content-Encoding: nonce\0".utf8), count: 12)
    let box = try AES.GCM.seal(
      plaintext + [2], using: cipherKey,
      nonce: AES.GCM.Nonce(data: nonce.withUnsafeBytes { Data($0) }))
    let size = withUnsafeBytes(of: UInt32(bytesMax).bigEndian) { Array($0) }
    return salt + size + [UInt8(ours.count)] + ours + Array(box.ciphertext) + Array(box.tag)
  }

  private static func derive(
    _ input: SymmetricKey, salt: [UInt8], info: [UInt8], count: Int
  ) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: input, salt: salt, info: info, outputByteCount: count)
  }
}

import RelayCore
import RelayEngine

/// Keys by plain hashing, which is fast, so that a run tries many inputs.
struct FuzzKeys: TokenKeys, IdentityKeys {
  let signing: UInt32 = 7

  func code(of bytes: [UInt8], keyID: UInt32) -> [UInt8]? {
    keyID == signing ? spread(bytes, salt: 1) : nil
  }

  func digest(_ bytes: [UInt8]) -> [UInt8] { spread(bytes, salt: 2) }

  func identity(scope: Scope, producer: String, source: String, id: String) -> ChangeIdentity {
    let bytes = spread(Array("\(producer)|\(source)|\(id)".utf8), salt: 3)
    return ChangeIdentity(
      notification: Identifier(uuidFrom: bytes),
      fingerprint: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  func origin(producer: String, source: String) -> UInt64 {
    spread(Array("\(producer)|\(source)".utf8), salt: 5).prefix(8).reduce(0) {
      $0 << 8 | UInt64($1)
    }
  }

  func clientID(forToken token: [UInt8], scope: Scope) -> ClientID {
    ClientID(Identifier(uuidFrom: spread(token, salt: 4)))
  }

  private func spread(_ bytes: [UInt8], salt: UInt64) -> [UInt8] {
    (0..<4).flatMap { lane -> [UInt8] in
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ salt &* 0x9e37_79b9 ^ UInt64(lane)
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
      return (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) }
    }
  }
}

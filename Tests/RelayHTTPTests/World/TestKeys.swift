import RelayCore
import RelayEngine
import Synchronization

/// Test keys with plain hashing, which is enough to distinguish the relay's own tokens from other
/// tokens.
struct TestKeys: TokenKeys, IdentityKeys {
  var signing: UInt32 = 7
  /// The ids of this relay's keys. A token with any other key id is a token of an unknown key.
  var known: Set<UInt32> = [7]

  func code(of bytes: [UInt8], keyID: UInt32) -> [UInt8]? {
    guard known.contains(keyID) else { return nil }
    return spread(bytes, salt: UInt64(keyID) &* 0x9e37_79b9)
  }

  func digest(_ bytes: [UInt8]) -> [UInt8] { spread(bytes, salt: 1) }

  func identity(scope: Scope, producer: String, source: String, id: String) -> ChangeIdentity {
    let text = "\(scope.container)|\(scope.environment.name)|\(source)|\(id)"
    let bytes = spread(Array("\(producer)|\(source)|\(id)".utf8), salt: 3)
    return ChangeIdentity(
      notification: Identifier(uuidFrom: spread(Array(text.utf8), salt: 2)),
      fingerprint: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  func origin(producer: String, source: String) -> UInt64 {
    let bytes = spread(Array("\(producer)|\(source)".utf8), salt: 5)
    return bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  func clientID(forToken token: [UInt8], scope: Scope) -> ClientID {
    ClientID(Identifier(uuidFrom: spread(Array(scope.container.utf8) + token, salt: 4)))
  }

  private func spread(_ bytes: [UInt8], salt: UInt64) -> [UInt8] {
    var result: [UInt8] = []
    for lane in 0..<4 as Range<UInt64> {
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ salt ^ lane &* 0x1234_5678_9abc_def1
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
      hash = (hash ^ hash >> 29) &* 0xbf58_476d_1ce4_e5b9
      for place in 0..<8 as Range<UInt64> {
        result.append(UInt8(truncatingIfNeeded: hash >> (place * 8)))
      }
    }
    return result
  }
}

/// A clock that a test can advance while other tasks read it.
final class PassingClock: ClockReader {
  private let now = Mutex(TestClock().now)
  func wall() -> Instant { now.withLock { $0 } }
  func boot() -> Instant { wall() }
  func pass(_ span: Span) { now.withLock { $0 = $0 + span } }
}

/// A clock that stands still until a test changes `now`.
struct TestClock: ClockReader {
  var now = Instant(milliseconds: 1_795_230_000_000)
  func wall() -> Instant { now }
  func boot() -> Instant { now }
}

import Foundation
import RelayCore
import RelayEngine
import RelayKeys
import Testing

/// Keys as files, the codes made with token keys, and the ids of changes, pushes and clients, made
/// with the store's own key.
@Suite struct KeyRingTests {
  private let folder = Folder()
  private let scope = Scope(container: "iCloud.com.example.notes", environment: .development)

  @Test func `the first start makes a key that only its owner may read`() throws {
    let ring = try KeyRing.kept(storeDirectory: folder.path)
    #expect(try mode("keys") == 0o700)
    #expect(try mode("keys/1.key") == 0o600)
    let text = try String(contentsOfFile: folder.path + "/keys/1.key", encoding: .utf8)
    #expect(text.count == 65 && text.hasSuffix("\n"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/keys").count == 1)
    let again = try KeyRing.kept(storeDirectory: folder.path)
    #expect(again.signing == ring.signing)
    #expect(again.code(of: [1], keyID: ring.signing) == ring.code(of: [1], keyID: ring.signing))
    let elsewhere = Folder()
    #expect(try KeyRing.kept(storeDirectory: elsewhere.path).signing != ring.signing)
  }

  /// A start that fails before `keepOwn` leaves only a draft, which the next start replaces.
  @Test func `a key that was not kept is replaced by a new key`() throws {
    let dropped = try KeyRing(storeDirectory: folder.path)
    #expect(dropped.hasMadeOwn)
    #expect(try KeyRing.identityCheck(storeDirectory: folder.path) == nil)
    let kept = try KeyRing.kept(storeDirectory: folder.path)
    #expect(kept.hasMadeOwn && kept.identityCheck != dropped.identityCheck)
    let again = try KeyRing(storeDirectory: folder.path)
    #expect(!again.hasMadeOwn && again.identityCheck == kept.identityCheck)
    #expect(try KeyRing.identityCheck(storeDirectory: folder.path) == kept.identityCheck)
    #expect(kept.identityCheck.count == 16)
  }

  @Test func `the first listed key signs, and all listed keys verify`() throws {
    let old = try folder.write("old.key", String(repeating: "ab", count: 32) + "\n")
    let new = try folder.write("new.key", String(repeating: "CD", count: 32))
    let before = try KeyRing.kept(storeDirectory: folder.path, listed: [old])
    let after = try KeyRing.kept(storeDirectory: folder.path, listed: [new, old, new])
    #expect(after.signing != before.signing)
    let code = before.code(of: [1, 2], keyID: before.signing)
    #expect(code?.count == 32 && after.code(of: [1, 2], keyID: before.signing) == code)
    #expect(before.code(of: [1, 2], keyID: after.signing) == nil)
    // The result of `openssl dgst -sha256 -mac HMAC -macopt hexkey:abab…`.
    #expect(
      code.map { Hex.text($0) }
        == "a413b03fa7c84c4459bcc4cc2e41b6b09a9572ffd962bf4a52c62a236eb7ed08")
  }

  /// An editor on Windows ends each line with a carriage return and a line feed.
  @Test func `a key's line may end with a carriage return`() throws {
    let digits = String(repeating: "ab", count: 32)
    let plain = try KeyRing(
      storeDirectory: folder.path, listed: [try folder.write("a.key", digits)])
    for end in ["\r\n", "\n", "\r"] {
      let listed = [try folder.write("b.key", digits + end)]
      #expect(
        try KeyRing.kept(storeDirectory: folder.path, listed: listed).signing == plain.signing)
    }
  }

  @Test func `identities stay the same after a rotation of the token keys`() throws {
    let listed = try folder.write("a.key", String(repeating: "12", count: 32))
    let rings = try [
      KeyRing.kept(storeDirectory: folder.path),
      KeyRing.kept(storeDirectory: folder.path, listed: [listed]),
    ]
    #expect(Set(rings.map(\.signing)).count == 2)
    let ids = rings.map { $0.identity(scope: scope, producer: "p", source: "s", id: "1") }
    #expect(Set(ids).count == 1)
  }

  @Test(arguments: [
    ("", "0 characters"), (String(repeating: "a", count: 63), "63 characters"),
    (String(repeating: "a", count: 64) + "\n\n", "65 characters"),
    (String(repeating: "g", count: 64), "not a hexadecimal digit"),
  ])
  func `the error for an invalid key file names the file and the fault`(text: String, found: String)
    throws
  {
    let path = try folder.write("bad.key", text)
    #expect {
      try KeyRing.kept(storeDirectory: folder.path, listed: [path])
    } throws: { error in
      let failure = error as? KeyFailure
      return failure?.path == path && failure?.found.contains(found) == true
        && failure?.remedy.isEmpty == false && !"\(error)".contains("aaa")
    }
  }

  @Test func `a missing and a non-text key file get different errors`() throws {
    let missing = folder.path + "/none.key"
    #expect { try KeyRing.kept(storeDirectory: folder.path, listed: [missing]) } throws: {
      ($0 as? KeyFailure)?.found == "no such file"
    }
    let path = folder.path + "/raw.key"
    try Data([0xff, 0xfe]).write(to: URL(fileURLWithPath: path))
    #expect { try KeyRing.kept(storeDirectory: folder.path, listed: [path]) } throws: {
      ($0 as? KeyFailure)?.found == "2 bytes that are not text"
    }
    let own = try folder.write("keys/1.key", "short")
    #expect { try KeyRing.kept(storeDirectory: folder.path) } throws: {
      ($0 as? KeyFailure)?.path == own
    }
    #expect { try KeyRing.kept(storeDirectory: folder.path + "/nowhere") } throws: {
      ($0 as? KeyFailure)?.found.contains("cannot be written") == true
    }
  }

  @Test func `identities are equal for the same input and differ for any other`() throws {
    let ring = try KeyRing.kept(storeDirectory: folder.path)
    let other = Scope(container: scope.container, environment: .production)
    let changes = [
      ring.identity(scope: scope, producer: "p", source: "a", id: "bc"),
      ring.identity(scope: scope, producer: "p", source: "ab", id: "c"),
      ring.identity(scope: other, producer: "p", source: "a", id: "bc"),
    ]
    let ids = changes.map(\.notification)
    #expect(Set(ids).count == 3 && Set(changes.map(\.fingerprint)).count == 3)
    #expect(changes[0] == ring.identity(scope: scope, producer: "p", source: "a", id: "bc"))
    #expect(Identifier(text: ids[0].text) == ids[0])

    let another = ring.identity(scope: scope, producer: "q", source: "a", id: "bc")
    #expect(another.notification == ids[0], "a retry through another producer is the same change")
    #expect(another.fingerprint != changes[0].fingerprint)

    let device = DeviceKey(scope: scope, user: UserID("_a"), client: ClientID(ids[0]))
    let pushes = (0..<100).map { ring.pushID(device: device, wake: $0) }
    #expect(Set(pushes).count == 100)
    #expect(ring.pushID(device: device, wake: 7) == pushes[7])
    #expect(
      ring.clientID(forToken: [1], scope: scope) != ring.clientID(forToken: [1], scope: other))
  }

  @Test func `a collapse value of more than 64 bytes becomes its digest`() throws {
    let ring = try KeyRing.kept(storeDirectory: folder.path)
    let fits = String(repeating: "ä", count: 32)
    #expect(ring.collapseID(fits) == fits)
    // The result of `openssl dgst -sha256 -binary | basenc --base64url` for 65 letters a.
    #expect(
      ring.collapseID(String(repeating: "a", count: 65))
        == "Y1NhxIu56rFBmOduqKt_GkFoXWrWKqkUbTAdTxfrCuA")
  }

  /// Earlier, the relay sent values with control characters or outer spaces unchanged, and no
  /// server accepted the header field.
  @Test(arguments: ["a\nb", " a", "a ", "a\u{7f}"])
  func `a collapse value that a header field cannot hold becomes its digest`(value: String) throws {
    let ring = try KeyRing.kept(storeDirectory: folder.path)
    #expect(ring.collapseID(value).utf8.count == 43)
    #expect(ring.collapseID("a b") == "a b")
  }

  private func mode(_ name: String) throws -> Int? {
    let path = folder.path + "/" + name
    return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }
}

extension KeyRing {
  /// Reads the keys as a start of the daemon does. If the store has no key of its own yet, makes
  /// one that is durable.
  static func kept(storeDirectory: String, listed: [String] = []) throws(KeyFailure) -> KeyRing {
    let ring = try KeyRing(storeDirectory: storeDirectory, listed: listed)
    try ring.keepOwn()
    return ring
  }
}

/// A directory for one test.
final class Folder: Sendable {
  let path: String

  init() {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("zonerelay-keys-\(UUID().uuidString)").path
    // If the directory cannot be made, the test fails at its first file.
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  // A temporary directory that is left behind does no harm.
  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ name: String, _ text: String) throws -> String {
    let url = URL(fileURLWithPath: path + "/" + name)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
    return url.path
  }
}

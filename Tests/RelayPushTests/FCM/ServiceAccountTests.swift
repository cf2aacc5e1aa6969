import CryptoExtras
import Foundation
import RelayCore
import Testing

@testable import RelayPush

@Suite struct ServiceAccountTests {
  private static let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048)

  private static func json(_ changes: [String: Any] = [:]) throws -> [UInt8] {
    var file: [String: Any] = [
      "type": "service_account", "project_id": "notes-1", "private_key_id": "k1",
      "private_key": key?.pemRepresentation ?? "", "client_email": "a@b.example",
      "token_uri": "https://oauth2.example/token", "client_id": "1",
    ]
    for (name, value) in changes { file[name] = value }
    return [UInt8](try JSONSerialization.data(withJSONObject: file))
  }

  @Test func `an assertion names issuer, scope and audience and lasts one hour`() throws {
    let account = try ServiceAccount(json: Self.json())
    let text = try account.assertion(at: Instant(milliseconds: 1_700_000_000_999))
    let parts = text.split(separator: ".")
    let read = parts.prefix(2).map { part in
      String(decoding: Base64URL.bytes(part) ?? [], as: UTF8.self)
    }
    #expect(read[0] == #"{"alg":"RS256","typ":"JWT","kid":"k1"}"#)
    #expect(
      read[1] == #"{"iss":"a@b.example","#
        + #""scope":"https://www.googleapis.com/auth/firebase.messaging","#
        + #""aud":"https://oauth2.example/token","iat":1700000000,"exp":1700003600}"#)
    let signature = _RSA.Signing.RSASignature(
      rawRepresentation: Data(Base64URL.bytes(parts[2]) ?? []))
    let isGood = Self.key?.publicKey.isValidSignature(
      signature, for: Data("\(parts[0]).\(parts[1])".utf8), padding: .insecurePKCS1v1_5)
    #expect(isGood == true)
  }

  @Test(arguments: [
    "type", "project_id", "private_key_id", "private_key", "client_email", "token_uri",
  ])
  func `an account file without a required member is refused`(name: String) throws {
    let json = try Self.json([name: NSNull()])
    #expect(throws: PushProblem.self) { try ServiceAccount(json: json) }
  }

  @Test func `an account file with an invalid member is refused`() throws {
    for (name, value) in [
      ("type", "authorized_user"), ("token_uri", "http://oauth2.example/token"),
      ("token_uri", "https://"), ("private_key", "no key"), ("client_email", "a b"),
    ] {
      let json = try Self.json([name: value])
      #expect(throws: PushProblem.self, "\(name)") { try ServiceAccount(json: json) }
    }
    #expect(throws: PushProblem.self) { try ServiceAccount(json: []) }
  }

  @Test(arguments: ["", "a/b", "a b", String(repeating: "a", count: 64)])
  func `an invalid project ID is refused`(project: String) throws {
    let account = try ServiceAccount(json: Self.json())
    #expect(throws: PushProblem.self) { try FCMSettings(project: project, account: account) }
  }
}

import Crypto
import Foundation
import RelayCore
import RelayHTTP
import Testing

@testable import RelayCommands

/// In which environment the doctor lets a change travel, and with which keys.
@Suite struct WalkSceneTests {
  private let secret = Secret(path: "/users", bytes: Array("s".utf8))
  private let bearer = Secret(path: "/producer", bytes: Array("b".utf8))
  private let records = P256.Signing.PrivateKey()

  private func app(
    _ container: String, users: Settings.Users.Proof? = nil, producers: [Settings.Producer]
  ) throws -> Settings.App {
    let keys = try KeySet(Array(#"{"keys":[]}"#.utf8))
    return Settings.App(
      scope: Scope(container: container, environment: .development),
      users: Settings.Users(proof: users ?? .keySet(keys)), producers: producers)
  }

  private var withBearer: Settings.Producer {
    Settings.Producer(name: "records-1", proof: .bearer(bearer))
  }

  private func signing(_ key: P256.Signing.PrivateKey) throws -> Settings.Producer {
    let known = try ProducerKey(pem: key.publicKey.pemRepresentation)
    return Settings.Producer(name: "records-2", proof: .signature(keyID: "abc", known))
  }

  private func skipped(_ choice: WalkScene.Choice) -> Finding? {
    if case .none(let finding) = choice { finding } else { nil }
  }

  private func scene(_ choice: WalkScene.Choice) -> WalkScene? {
    if case .scene(let scene) = choice { scene } else { nil }
  }

  @Test func `the first environment with both keys is chosen`() throws {
    let apps = [
      try app("one", producers: [withBearer]),
      try app("two", users: .sharedSecret(secret), producers: [try signing(records)]),
      try app(
        "three", users: .sharedSecret(secret), producers: [try signing(records), withBearer]),
    ]
    let chosen = scene(WalkScene.choose(apps, .none))
    #expect(chosen?.scope.container == "three" && chosen?.producerName == "records-1")
    var given = GivenKeys.none
    given.producerKey = records
    #expect(scene(WalkScene.choose(apps, given))?.scope.container == "two")
    given.userToken = ("t", ["one"])
    #expect(scene(WalkScene.choose(apps, given))?.scope.container == "one")
  }

  @Test func `a given key is tried before a bearer`() throws {
    let producers = [withBearer, try signing(records)]
    let apps = [try app("one", users: .sharedSecret(secret), producers: producers)]
    #expect(scene(WalkScene.choose(apps, .none))?.producerName == "records-1")
    var given = GivenKeys.none
    given.producerKey = records
    #expect(scene(WalkScene.choose(apps, given))?.producerName == "records-2")
    given.producerKey = P256.Signing.PrivateKey()
    #expect(scene(WalkScene.choose(apps, given))?.producerName == "records-1")
  }

  @Test func `what is missing is named with the flag that gives it`() throws {
    let apps = [try app("one", producers: [withBearer])]
    var finding = try #require(skipped(WalkScene.choose(apps, .none)))
    #expect(finding.result == .skipped && finding.remedy?.contains("--user-token FILE") == true)
    #expect(finding.remedy?.contains("_zonerelay-doctor") == true)
    var given = GivenKeys.none
    given.userToken = ("t", ["other"])
    #expect(skipped(WalkScene.choose(apps, given)) == finding, "the token is of another container")
    let foreign = [
      try app("two", users: .sharedSecret(secret), producers: [try signing(records)])
    ]
    given.producerKey = P256.Signing.PrivateKey()
    finding = try #require(skipped(WalkScene.choose(foreign, given)))
    #expect(finding.remedy?.contains("--producer-key FILE") == true)
    #expect(finding.message.contains("none has the key"))
    let none = [try app("two", users: .sharedSecret(secret), producers: [])]
    finding = try #require(skipped(WalkScene.choose(none, .none)))
    #expect(finding.message.contains("no producer"))
  }

  // MARK: Files that options of the command name

  private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("zonerelay-given-\(UUID().uuidString)")
    try Data(text.utf8).write(to: path)
    // A temporary file that is left behind does no harm.
    defer { try? FileManager.default.removeItem(at: path) }
    try body(path.path)
  }

  private func token(_ claims: String) -> String {
    let body = Data(claims.utf8).base64EncodedString().replacing("=", with: "")
      .replacing("+", with: "-").replacing("/", with: "_")
    return "e30.\(body).c2ln\n"
  }

  @Test(arguments: [#""one""#, #"["zero","one"]"#])
  func `a token of the doctor's user is taken with its containers`(audience: String) throws {
    try withFile(token(#"{"sub":"_zonerelay-doctor","aud":\#(audience)}"#)) { path in
      let given = try GivenKeys(userToken: path, producerKey: nil)
      #expect(given.userToken?.containers.last == "one")
      #expect(given.userToken?.text.hasSuffix("c2ln") == true)
    }
  }

  @Test func `a token for no container is taken, and matches none`() throws {
    try withFile(token(#"{"sub":"_zonerelay-doctor","aud":[]}"#)) { path in
      let given = try GivenKeys(userToken: path, producerKey: nil)
      #expect(given.userToken?.containers == [])
    }
  }

  @Test(arguments: ["no token", "a.b.c", "e30.e30.c2ln", ""])
  func `a file without a token is wrong usage`(text: String) throws {
    try withFile(text) { path in
      let failure = #expect(throws: Failure.self) {
        try GivenKeys(userToken: path, producerKey: nil)
      }
      #expect(failure?.status == .usage && failure?.message.hasPrefix("--user-token") == true)
    }
  }

  /// With a person's token the doctor would change that person's feed.
  @Test func `a token of a person is refused`() throws {
    try withFile(token(#"{"sub":"_abc","aud":"one"}"#)) { path in
      let failure = #expect(throws: Failure.self) {
        try GivenKeys(userToken: path, producerKey: nil)
      }
      #expect(failure?.status == .usage && failure?.message.contains("user _abc") == true)
    }
  }

  @Test func `a producer's private key is read, and its public half is not enough`() throws {
    try withFile(records.pemRepresentation) { path in
      let given = try GivenKeys(userToken: nil, producerKey: path)
      #expect(given.producerKey?.rawRepresentation == records.rawRepresentation)
    }
    try withFile(records.publicKey.pemRepresentation) { path in
      let failure = #expect(throws: Failure.self) {
        try GivenKeys(userToken: nil, producerKey: path)
      }
      #expect(failure?.status == .usage)
    }
    #expect(throws: Failure.self) { try GivenKeys(userToken: nil, producerKey: "/nonexistent") }
  }
}

import Crypto
import Foundation
import RelayStandin
import Testing

/// The files that a stand-in creates, keeps and refuses in its directory.
@Suite struct StandinFilesTests {
  @Test func `the stand-in logs each request with every field of the contract`() async throws {
    try await StandinWorld.run { world in
      let client = try await world.connect()
      _ = try await client.send(
        "POST", StandinWorld.path, world.headers(), StandinWorld.background)
      let text = try String(contentsOfFile: "\(world.directory)/pushes.jsonl", encoding: .utf8)
      #expect(text.hasSuffix("}\n") && text.filter { $0 == "\n" }.count == 1)
      #expect(text.contains(#""payload":{"aps":{"content-available":1},"zr":{"on":true,"w":17}}"#))
      let line = try #require(world.lines().first)
      #expect(line.connection == 1 && line.path == StandinWorld.path && line.status == 200)
      #expect(line.headers["apns-topic"] == "com.example.notes" && line.reason == nil)
      #expect(line.payload?.zr?.w == 17 && line.payload?.zr?.on == true)
      let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
      #expect(try abs(style.parse(line.time).timeIntervalSinceNow) < 60)
      try await client.close()
    }
  }

  @Test func `a restart keeps the keys, the CA certificate and the log`() async throws {
    let directory = StandinWorld.temporaryDirectory()
    defer { StandinWorld.removeDirectory(directory) }
    func contents() throws -> [String] {
      try ["ca.pem", "AuthKey.p8", "AuthKey.pub.pem"].map {
        try String(contentsOfFile: "\(directory)/\($0)", encoding: .utf8)
      }
    }
    var seen: [[String]] = []
    for turn in 1...2 {
      let standin = try await APNsStandin(StandinSettings(directory: directory))
      let world = StandinWorld(standin: standin, directory: directory)
      try await StandinWorld.serving(standin) {
        let client = try await world.connect()
        let answer = try await client.send(
          "POST", StandinWorld.path, world.headers(), StandinWorld.background)
        #expect(answer.status == 200)
        #expect(try world.lines().count == turn)
        try await client.close()
      }
      seen.append(try contents())
    }
    #expect(seen[0] == seen[1])
    #expect(seen[0][1].hasPrefix("-----BEGIN PRIVATE KEY-----"))
    #expect(seen[0][2].hasPrefix("-----BEGIN PUBLIC KEY-----"))
    let mode = try FileManager.default.attributesOfItem(atPath: "\(directory)/AuthKey.p8")
    #expect((mode[.posixPermissions] as? NSNumber)?.intValue == 0o600)
  }

  @Test func `the stand-in derives the public key and also starts with it alone`()
    async throws
  {
    let directory = StandinWorld.temporaryDirectory()
    defer { StandinWorld.removeDirectory(directory) }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let key = P256.Signing.PrivateKey()
    try key.pemRepresentation.write(
      toFile: "\(directory)/AuthKey.p8", atomically: true, encoding: .utf8)
    let standin = try await APNsStandin(StandinSettings(directory: directory))
    try await StandinWorld.serving(standin) {}
    let text = try String(contentsOfFile: "\(directory)/AuthKey.pub.pem", encoding: .utf8)
    #expect(
      try P256.Signing.PublicKey(pemRepresentation: text).rawRepresentation
        == key.publicKey.rawRepresentation)
    try FileManager.default.removeItem(atPath: "\(directory)/AuthKey.p8")
    let second = try await APNsStandin(StandinSettings(directory: directory))
    try await StandinWorld.serving(second) {}
    #expect(!FileManager.default.fileExists(atPath: "\(directory)/AuthKey.p8"))
  }

  @Test func `the stand-in refuses invalid settings and names the bad item`() async throws {
    let directory = StandinWorld.temporaryDirectory()
    defer { StandinWorld.removeDirectory(directory) }
    func failure(_ settings: StandinSettings) async -> StandinError? {
      do throws(StandinError) {
        _ = try await APNsStandin(settings)
        return nil
      } catch {
        return error
      }
    }
    #expect(
      await failure(StandinSettings(directory: directory, goawayEvery: 0))?.message
        == "goaway-every is 0")
    #expect(await failure(StandinSettings(directory: "/proc/none"))?.code == .files)
    let holder = try await APNsStandin(StandinSettings(directory: directory))
    let taken = await failure(StandinSettings(port: holder.port, directory: directory))
    #expect(taken?.code == .listen)
    #expect(taken?.message.contains("127.0.0.1:\(holder.port)") == true)
    try await StandinWorld.serving(holder) {}
    try "nothing".write(
      toFile: "\(directory)/AuthKey.pub.pem", atomically: true, encoding: .utf8)
    let bad = await failure(StandinSettings(directory: directory))
    #expect(bad?.code == .keys && bad?.message.contains("AuthKey.pub.pem") == true)
  }

  /// Another client with another TLS library accepts the certificate and the answers.
  @Test func `curl accepts the stand-in's certificate and answers`() async throws {
    try await StandinWorld.run { world in
      let port = world.standin.port
      let headers = try world.headers().flatMap { ["-H", "\($0.0): \($0.1)"] }
      for host in ["127.0.0.1", "localhost"] {
        let curl = Process()
        curl.executableURL = URL(filePath: "/usr/bin/curl")
        curl.arguments =
          [
            "--silent", "--show-error", "--http2", "--max-time", "20", "--ipv4", "--noproxy", "*",
            "--cacert", "\(world.directory)/ca.pem", "--write-out", "%{http_version} %{http_code}",
            "--data", StandinWorld.background,
          ] + headers + ["https://\(host):\(port)\(StandinWorld.path)"]
        let output = Pipe()
        curl.standardOutput = output
        try curl.run()
        let text = try output.fileHandleForReading.readToEnd().map {
          String(decoding: $0, as: UTF8.self)
        }
        curl.waitUntilExit()
        #expect(text == "2 200")
      }
    }
  }
}

import Foundation
import Testing

/// `zonerelay backup` of the built binary: its copies can be restored, and its refusals name the
/// reason.
@Suite(.serialized) struct BackupTests {
  private static func backup(_ workplace: Workplace, to name: String) throws -> Program {
    try Program(
      ["backup", workplace.file(name).path, "--config", workplace.configPath], in: workplace,
      name: "backup")
  }

  /// Puts a backup's files over those of a store, as `cp -a BACKUP/. STORE/` does.
  private static func restore(_ name: String, in workplace: Workplace) async throws {
    let copied = try Program(
      ["-a", workplace.file(name).path + "/.", workplace.file("store").path], in: workplace,
      name: "cp", program: URL(fileURLWithPath: "/bin/cp"))
    #expect(await copied.wait().status == 0)
  }

  private static func mode(_ workplace: Workplace, _ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: workplace.file(name).path)[.posixPermissions]
      as? Int
  }

  /// The backup contains everything that was answered before it began, and no torn data.
  @Test func `a backup under load holds every change accepted before it`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    var daemon = try await RunningDaemon.start(in: workplace)
    var producer = Producer(daemon.web, key: workplace.producerKey)
    var answered: Set<String> = []
    func produce(while goesOn: (Int) -> Bool) async throws {
      var batches = 0
      while goesOn(batches) {
        let first = producer.count
        let events = (1...50).map {
          producer.event("created", record: "R\(first + $0)", zone: "Z\(batches % 3)", user: "_abc")
        }
        if try await producer.post(events).status == 202 {
          answered.formUnion((1...50).map { "R\(first + $0)" })
        }
        batches += 1
      }
    }
    try await produce { $0 < 20 }
    let before = answered
    let backup = try Self.backup(workplace, to: "backup")
    try await produce { $0 < 5 || backup.isRunning }
    let ended = await backup.wait()
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(ended.output.contains("relay.db, journal.db and 1 key"))
    #expect(ended.errors.contains("zonerelay: relay.db: ") && ended.errors.contains("checking"))
    #expect(answered.count > before.count, "there was no load")
    try await produce { $0 < 10 }
    #expect(try Self.mode(workplace, "backup") == 0o700)
    #expect(try Self.mode(workplace, "backup/relay.db") == 0o600)
    #expect(try Self.mode(workplace, "backup/keys") == 0o700)
    #expect(try Self.mode(workplace, "backup/keys/1.key") == 0o600)

    await daemon.kill()
    try await Self.restore("backup", in: workplace)
    daemon = try await RunningDaemon.start(in: workplace)
    let expiry = try await Program.run(
      ["expire-tokens", "--control", workplace.controlSocket], in: workplace)
    #expect(expiry.status == 0)
    var phone = Phone(
      daemon.web, user: "_abc", in: workplace, pushToken: String(repeating: "ba", count: 32))
    try await phone.catchUp(page: 200)
    let found = Set(phone.zones.values.flatMap(\.keys))
    #expect(found.isSuperset(of: before), "lost \(before.subtracting(found).sorted().prefix(5))")
    #expect(found.isSubset(of: answered))
    #expect(found.count % 50 == 0, "a request was torn: \(found.count) records")
    #expect(try await daemon.status()["ledger"]["balanced"].bool == true)
    #expect(await daemon.stop().status == 0)
  }

  /// The restore of docs/operations.md, with and without the provider tokens of the replaced store.
  /// Without those tokens the relay signs a new one, which Apple refuses within 20 minutes of the
  /// previous token.
  @Test(arguments: [true, false])
  func `a restored daemon uses copied provider tokens or signs new ones`(_ areCopied: Bool)
    async throws
  {
    let (workplace, standin) = try await Workplace.withStandin(window: "0s")
    defer { workplace.remove() }
    var daemon = try await RunningDaemon.start(in: workplace)
    let token = String(repeating: "ab", count: 32)
    let phone = Phone(daemon.web, user: "_abc", in: workplace, pushToken: token)
    try await phone.register()
    try await phone.subscribe(toZone: "Z")
    var producer = Producer(daemon.web, key: workplace.producerKey)
    var event = producer.event("created", record: "A", zone: "Z", user: "_abc")
    #expect(try await producer.post([event]).status == 202)
    #expect(try await Pause.until { try standin.pushes(to: token).count == 1 })
    #expect(await (try Self.backup(workplace, to: "backup")).wait().status == 0)
    #expect(await daemon.stop().status == 0)

    let (files, store) = (FileManager.default, workplace.file("store"))
    try files.moveItem(at: store, to: workplace.file("store.old"))
    try files.createDirectory(at: store, withIntermediateDirectories: false)
    try await Self.restore("backup", in: workplace)
    if areCopied {
      try files.copyItem(
        at: workplace.file("store.old/provider-tokens"),
        to: store.appendingPathComponent("provider-tokens"))
    }
    daemon = try await RunningDaemon.start(in: workplace)
    event = producer.event("created", record: "B", zone: "Z", user: "_abc")
    #expect(try await producer.post([event]).status == 202)
    #expect(try await Pause.until { try standin.pushes(to: token).count > 1 })
    let tokens = try ["store.old", "store"].map { store in
      let directory = workplace.file("\(store)/provider-tokens")
      return try files.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        .map { try Data(contentsOf: $0) }
    }
    let isSame = tokens[0] == tokens[1] && tokens[0].count == 1
    #expect(isSame == areCopied, "another token was signed, or none")
    if areCopied {
      #expect(try standin.pushes(to: token).allSatisfy { $0["status"].int == 200 })
    }
    #expect(await daemon.stop().status == 0)
  }

  /// A stopped daemon can be backed up. A directory with files is refused and left unchanged.
  @Test func `a stopped daemon is backed up, but not into a directory with files`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    let early = await (try Self.backup(workplace, to: "early")).wait()
    #expect(early.status == 1)
    #expect(early.errors.contains("there is no store in"))
    #expect(!FileManager.default.fileExists(atPath: workplace.file("early").path))
    let daemon = try await RunningDaemon.start(in: workplace)
    #expect(await daemon.stop().status == 0)
    #expect(await (try Self.backup(workplace, to: "copy")).wait().status == 0)
    let files = FileManager.default
    let names = try files.contentsOfDirectory(atPath: workplace.file("copy").path).sorted()
    #expect(names == ["journal.db", "journal.db-wal", "keys", "relay.db", "relay.db-wal"])
    let again = await (try Self.backup(workplace, to: "copy")).wait()
    #expect(again.status == 1)
    #expect(again.errors.contains("is not empty: it holds journal.db"))
    #expect(again.errors.contains("zonerelay: hint: each backup wants a directory of its own"))
    #expect(try files.contentsOfDirectory(atPath: workplace.file("copy").path).count == 5)
    try await Self.restore("copy", in: workplace)
    let restored = try await RunningDaemon.start(in: workplace)
    #expect(await restored.stop().status == 0)
  }

  /// A start refuses a store that was restored in part, and `zonerelay check` reports such a store.
  @Test func `a start refuses a store that was restored only in part`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    #expect(await (try Self.backup(workplace, to: "backup")).wait().status == 0)
    var producer = Producer(daemon.web, key: workplace.producerKey)
    let event = producer.event("created", record: "A", zone: "Z", user: "_abc")
    #expect(try await producer.post([event]).status == 202)
    #expect(await daemon.stop().status == 0)
    let journal = workplace.file("store/journal.db")
    try FileManager.default.removeItem(at: journal)
    try FileManager.default.copyItem(at: workplace.file("backup/journal.db"), to: journal)
    let check = try await Program.run(["check", "--config", workplace.configPath], in: workplace)
    #expect(check.status == 78)
    #expect(check.errors.contains("store.directory: journal.db in"))
    #expect(check.errors.contains("is older than relay.db"))
    let serve = try await Program.run(["serve", "--config", workplace.configPath], in: workplace)
    #expect(serve.status == 1)
    #expect(serve.errors.contains("store_mixed"))
    #expect(serve.errors.contains("restore both files from one backup"))
  }
}

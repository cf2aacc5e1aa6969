import Foundation
import Testing

/// What operators get: refusals that state the reason, and documented exit codes.
@Suite(.serialized) struct OperationTests {
  /// A second daemon on the same store reports the conflict and changes nothing.
  @Test func `a second daemon on the same store is refused`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    let second = try await Program.run(["serve", "--config", workplace.configPath], in: workplace)
    #expect(second.status == 1)
    #expect(second.errors.contains("zonerelay: error:"))
    #expect(try await daemon.status()["healthy"].bool == true)
    #expect(await daemon.stop().status == 0)
  }

  /// `status` without a daemon exits 3. `check` of a bad file exits 78 and names the key. An
  /// unknown option exits 64.
  @Test func `commands exit with the documented codes`() async throws {
    let (workplace, _) = try await Workplace.withStandin(extra: "sever: {}")
    defer { workplace.remove() }
    let status = try await Program.run(
      ["status", "--control", workplace.controlSocket], in: workplace)
    #expect(status.status == 3)
    let check = try await Program.run(["check", "--config", workplace.configPath], in: workplace)
    #expect(check.status == 78)
    #expect(check.errors.contains("sever") || check.output.contains("sever"))
    let wrong = try await Program.run(["serve", "--nonsense"], in: workplace)
    #expect(wrong.status == 64)
  }

  /// The reader of the daemon's standard error has gone before the daemon writes.
  @Test func `without a reader of its errors, serve still exits with its code`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let script = """
      mkfifo "$1"; exec 3<>"$1" 4>"$1" 3<&-; exec "$0" serve --config none.yaml 2>&4
      """
    let program = try Program(
      ["-c", script, Program.binary.path, workplace.file("gone").path], in: workplace,
      name: "serve", program: URL(fileURLWithPath: "/bin/sh"))
    #expect(await program.wait().status == 78)
  }

  /// A draining daemon reports 503 on `/health/ready`, so that a load balancer sends it no more
  /// requests.
  @Test func `a draining daemon is not ready`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    let drained = try await Program.run(
      ["drain", "--control", workplace.controlSocket], in: workplace)
    #expect(drained.status == 0)
    let answer = try await daemon.web.send("GET", "/health/ready", [])
    #expect(answer.status == 503 && answer.json["ready"].bool == false)
    #expect(answer.json["reasons"].array.first?.string?.hasPrefix("it drains") == true)
    #expect(await daemon.stop().status == 0)
  }

  /// The daemon does not start with a damaged store, names the damaged file and leaves it as it is.
  @Test func `a damaged store is refused`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    let file = workplace.file("store/relay.db")
    let damaged = Data("this is no database, whatever its name says".utf8)
    try damaged.write(to: file)
    let ended = try await Program.run(["serve", "--config", workplace.configPath], in: workplace)
    #expect(ended.status == 1)
    #expect(ended.errors.contains("relay.db"))
    #expect(try Data(contentsOf: file) == damaged)
  }

  /// A store that has never served counts as new, even if parts of it exist already.
  @Test func `a failed first start is not reported as a lost key`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    try Data().write(to: workplace.file("store/keys"))
    let failed = try await Program.run(["serve", "--config", workplace.configPath], in: workplace)
    #expect(failed.status == 1 && failed.errors.contains("keys/1.key"), "\(failed.errors)")
    try FileManager.default.removeItem(at: workplace.file("store/keys"))
    let daemon = try await RunningDaemon.start(in: workplace)
    let status = try await daemon.status()
    #expect(status["healthy"].bool == true, "\(status["reasons"])")
    #expect(await daemon.stop().status == 0)
  }

  /// A backup was restored without its keys. All clients start from the beginning, so `status`
  /// reports the reason.
  @Test func `status reports a lost key until the next restart`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    var lost: [Bool] = []
    for start in 0..<3 {
      if start == 1 { try FileManager.default.removeItem(at: workplace.file("store/keys")) }
      let daemon = try await RunningDaemon.start(in: workplace)
      let reasons = try await daemon.status()["reasons"].array.compactMap(\.string)
      lost.append(reasons.contains { $0.contains("keys/1.key was missing") })
      #expect(await daemon.stop().status == 0)
    }
    #expect(lost == [false, true, false])
  }

  /// The daemon refuses the identity key of another store, because that key would change the ids of
  /// notifications and pushes.
  @Test func `a key of another store is refused`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    let key = workplace.file("store/keys/1.key")
    #expect(await (try RunningDaemon.start(in: workplace)).stop().status == 0)
    let own = try String(contentsOf: key, encoding: .utf8)
    try String(repeating: "ab", count: 32).write(to: key, atomically: true, encoding: .utf8)
    let ended = try await Program.run(["serve", "--config", workplace.configPath], in: workplace)
    #expect(
      ended.status == 1 && ended.errors.contains("keys/1.key belongs to another store"),
      "\(ended.errors)")
    let checked = try await Program.run(["check", "--config", workplace.configPath], in: workplace)
    #expect(
      checked.status == 78 && checked.errors.contains("keys/1.key belongs to another store"),
      "\(checked)")
    let copy = workplace.file("copy").path
    let copied = try await Program.run(
      ["backup", copy, "--config", workplace.configPath], in: workplace)
    #expect(
      copied.status == 1 && copied.errors.contains("keys/1.key belongs to another store"),
      "\(copied)")
    #expect(!FileManager.default.fileExists(atPath: copy))
    // After a lost key a new one is made, and the lost key may be put back later.
    try FileManager.default.removeItem(at: key)
    #expect(await (try RunningDaemon.start(in: workplace)).stop().status == 0)
    for text in [try String(contentsOf: key, encoding: .utf8), own] {
      try text.write(to: key, atomically: true, encoding: .utf8)
      #expect(await (try RunningDaemon.start(in: workplace)).stop().status == 0)
    }
  }

  /// A store is restored from an older copy: tokens of the lost history expire, and `status` is
  /// unhealthy until the operator runs `expire-tokens`.
  @Test func `a restored copy expires the tokens of the lost history`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    var daemon = try await RunningDaemon.start(in: workplace)
    var phone = Phone(
      daemon.web, user: "_abc", in: workplace, pushToken: String(repeating: "ef", count: 32))
    var producer = Producer(daemon.web, key: workplace.producerKey)
    func report(_ record: String) async throws {
      let event = producer.event("created", record: record, zone: "Z", user: "_abc")
      #expect(try await producer.post([event]).status == 202)
    }
    try await report("A")
    #expect(await daemon.stop().status == 0)
    let copy = workplace.file("yesterday")
    try FileManager.default.copyItem(at: workplace.file("store"), to: copy)

    daemon = try await RunningDaemon.start(in: workplace)
    try await report("B")
    try await phone.catchUp(page: 200)
    #expect(phone.zones["Z"]?.count == 2)
    #expect(await daemon.stop().status == 0)
    try FileManager.default.removeItem(at: workplace.file("store"))
    try FileManager.default.copyItem(at: copy, to: workplace.file("store"))

    daemon = try await RunningDaemon.start(in: workplace)
    let answer = try await daemon.web.post(
      "/database/1/\(phone.scope)/private/changes/zone",
      [
        "zones": [
          [
            "zoneID": ["zoneName": "Z", "ownerRecordName": "_abc"],
            "syncToken": phone.zoneTokens["Z"] ?? "",
          ]
        ]
      ], token: phone.userToken)
    #expect(answer.json["zones"][0]["serverErrorCode"].string == "CHANGE_TOKEN_EXPIRED")
    let isTold = try await Pause.until { try await daemon.status()["healthy"].bool == false }
    #expect(isTold)
    let expiry = try await Program.run(
      ["expire-tokens", "--control", workplace.controlSocket], in: workplace)
    #expect(expiry.status == 0)
    #expect(try await daemon.status()["healthy"].bool == true)
    #expect(await daemon.stop().status == 0)
  }
}

import Foundation
import RelayCurl
import Testing

/// SIGHUP on the built daemon.
@Suite(.serialized) struct ReloadTests {
  private static let other = "iCloud.com.example.other"
  private static let event: [UInt8] = Array(
    #"""
    [{"specversion":"1.0","id":"1","source":"/r","type":"zonerelay.zone.created",
    "data":{"database":"private","zoneID":{"zoneName":"Z","ownerRecordName":"_abc"}}}]
    """#.utf8)

  private static func config(_ workplace: Workplace) throws -> String {
    try String(contentsOfFile: workplace.configPath, encoding: .utf8)
  }

  private static func write(_ text: String, _ workplace: Workplace) throws {
    try text.write(toFile: workplace.configPath, atomically: true, encoding: .utf8)
  }

  private static func report(
    _ web: Web, _ container: String, _ environment: String, key: String
  ) async throws -> Int {
    try await web.send(
      "POST", "/events/1/\(container)/\(environment)", event, token: key,
      contentType: "application/cloudevents-batch+json"
    ).status
  }

  private static func reload(_ daemon: RunningDaemon) { daemon.program.signal(SIGHUP) }

  private static func reasons(_ daemon: RunningDaemon) async throws -> [String] {
    try await daemon.status()["reasons"].array.compactMap(\.string)
  }

  /// A start on a full disk waits for room. Until there is room, no reload is applied.
  @Test(.enabled(if: SmallTree.canMount, "only root may mount, and a container may forbid it"))
  func `a reload during a start that waits for room does not hold up a stop`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    _ = await (try await RunningDaemon.start(in: workplace)).stop()
    let store = workplace.file("store")
    try FileManager.default.moveItem(at: store, to: workplace.file("store.old"))
    try FileManager.default.createDirectory(at: store, withIntermediateDirectories: false)
    let words = SmallTree.command(
      at: store.path,
      // Enough is left for what SQLite keeps beside its files, and not enough to write.
      #"""
      cp -r "$place".old/keys "$place".old/*.db "$place"
      cat /dev/zero > "$place"/ballast 2>/dev/null
      truncate -s -98304 "$place"/ballast;
      """#)
    let serve = [Program.binary.path, "serve", "--config", workplace.configPath]
    let program = try Program(
      Array(words.dropFirst()) + serve, in: workplace, name: "full",
      program: URL(fileURLWithPath: words[0]))
    try #require(await Pause.until { program.errors.contains("start waits") }, "\(program.errors)")
    program.signal(SIGHUP)
    #expect(await !Pause.until(seconds: 1) { !program.isRunning }, "the start goes on waiting")
    program.signal(SIGTERM)
    #expect(await program.wait(seconds: 20).status == 0, "\(program.errors)")
  }

  /// Containers are added and removed, producers change, and a bad file changes nothing. Meanwhile
  /// every request on a kept connection is answered.
  @Test func `a reload under load drops no request`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    let (web, key) = (daemon.web, workplace.producerKey)
    let good = try Self.config(workplace)
    let load = try await withThrowingTaskGroup(of: Int.self) { group in
      for worker in 0..<4 { group.addTask { try await Self.work(worker, web, key) } }
      try await Self.turns(daemon, good)
      group.cancelAll()
      return try await group.reduce(0, +)
    }
    #expect(load > 20)
    #expect(daemon.program.isRunning)
    #expect(await daemon.stop().status == 0)
  }

  /// Posts reports until the task is cancelled; every report must be accepted.
  private static func work(_ worker: Int, _ web: Web, _ key: String) async throws -> Int {
    var count = 0
    var producer = Producer(web, key: key)
    while !Task.isCancelled {
      count += 1
      let event = producer.event(
        "created", record: "R\(count)", zone: "W\(worker)", user: "_load\(worker)")
      do {
        let answer = try await producer.post([event])
        guard answer.status == 202 else { throw TestFailure("\(answer.status) \(answer.json)") }
      } catch {
        // The end of the test cancels requests. Any other error fails the test.
        if !Task.isCancelled { throw error }
      }
    }
    return count
  }

  private static func turns(_ daemon: RunningDaemon, _ good: String) async throws {
    let (workplace, web) = (daemon.workplace, daemon.web)
    let key = workplace.producerKey
    #expect(try await report(web, other, "production", key: key) == 404)
    try workplace.addContainer(other)
    reload(daemon)
    #expect(
      try await Pause.until { try await report(web, other, "production", key: key) == 202 })
    // A bad file changes nothing, and `status` names its problem until a good file is loaded.
    try write(good + "\nsever: {}\nlog: { level: loud }", workplace)
    reload(daemon)
    #expect(try await Pause.until { try await !reasons(daemon).isEmpty })
    let reason = try #require(try await reasons(daemon).first)
    #expect(reason.contains("the old one stays") && reason.contains("(and 1 more)"))
    #expect(try await report(web, other, "production", key: key) == 202)
    // A producer's key changes, and the other container is removed.
    let fresh = "another-producer-key-of-thirty-two-characters"
    try fresh.write(to: workplace.file("fresh.key"), atomically: true, encoding: .utf8)
    let line = "- { name: records-2, bearer: \(workplace.file("fresh.key").path) }"
    let indent = String(repeating: " ", count: 10)
    try write(
      good.replacing("producers:\n", with: "producers:\n\(indent)\(line)\n"), workplace)
    reload(daemon)
    #expect(
      try await Pause.until {
        try await report(web, Workplace.container, "development", key: fresh) == 202
      })
    #expect(try await report(web, other, "production", key: key) == 404)
    #expect(try await reasons(daemon) == [])
  }

  /// A reload that is requested during the start happens after the start.
  @Test func `a reload requested during the start happens after the start`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    let mailbox = try Mailbox(workplace.file("notify").path)
    let program = try Self.serveUnderSystemd(workplace)
    // The lock is made when the store is opened: the configuration has been read, and nothing
    // listens yet.
    let lock = workplace.file("store").appendingPathComponent("lock").path
    while program.isRunning, !FileManager.default.fileExists(atPath: lock) { await Task.yield() }
    try workplace.addContainer(Self.other)
    program.signal(SIGHUP)
    let web = Web(base: workplace.api)
    let isTaken = await Pause.until {
      // The request fails until the daemon listens.
      let status = try? await Self.report(
        web, Self.other, "production", key: workplace.producerKey)
      return status == 202 || !program.isRunning
    }
    #expect(isTaken && program.isRunning, "\(program.errors)")
    #expect(await mailbox.hears("STATUS=", "serving 2 containers"))
    #expect(!mailbox.letters.contains { $0.contains("serving 1 container") })
    program.signal(SIGTERM)
    #expect(await program.wait().status == 0)
  }

  /// If the reload did not end the stream, it would stay open until its address lapses, twelve
  /// hours later.
  @Test func `a reload ends the streams of a removed environment`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    let (web, good) = (daemon.web, try Self.config(workplace))
    try workplace.addContainer(Self.other)
    Self.reload(daemon)
    let isThere = try await Pause.until {
      try await Self.report(web, Self.other, "production", key: workplace.producerKey) == 202
    }
    #expect(isThere)
    let created = try await web.post(
      "/device/1/\(Self.other)/production/tokens/create", ["apnsEnvironment": "production"],
      token: UserJWT.make(user: "_abc", secret: workplace.userSecret, audience: Self.other))
    let url = try #require(created.json["webcourierURL"].string)
    let path = String(url.dropFirst(web.base.count))
    let accept = [(name: "Accept", value: "text/event-stream")]
    async let stream = web.client.send(
      HTTPRequest("GET", web.base + path, headers: accept, timeout: .seconds(30)))
    let control = ControlClient(socket: workplace.controlSocket)
    func connections(_ count: Int) async throws -> Bool {
      try await Pause.until {
        String(decoding: try await control.get("/metrics").body, as: UTF8.self)
          .contains("zonerelay_courier_connections \(count)\n")
      }
    }
    #expect(try await connections(1))
    try Self.write(good, workplace)
    Self.reload(daemon)
    #expect(try await connections(0))
    #expect(try await stream.status == 200, "it has ended as it would at a stop")
    #expect(try await web.send("GET", path, []).status == 410)
    #expect(await daemon.stop().status == 0)
  }

  /// A draining daemon accepts nothing until it is restarted, and a reload does not change that.
  @Test func `the systemd status line shows a drain, also after a reload`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    let mailbox = try Mailbox(workplace.file("notify").path)
    let program = try Self.serveUnderSystemd(workplace)
    #expect(await mailbox.hears("READY=1"))
    #expect(await mailbox.hears("STATUS=serving"))
    let drained = try await Program.run(
      ["drain", "--control", workplace.controlSocket], in: workplace)
    #expect(drained.status == 0)
    #expect(await mailbox.hears("STATUS=it drains"))
    try workplace.addContainer(Self.other)
    program.signal(SIGHUP)
    var letters: [String] = []
    _ = await Pause.until {
      letters += mailbox.letters
      return letters.contains("READY=1")
    }
    #expect(!letters.contains { $0.hasPrefix("STATUS=serving") })
    program.signal(SIGTERM)
    #expect(await program.wait().status == 0)
  }

  /// The daemon sends its messages for systemd to the workplace's socket `notify`.
  private static func serveUnderSystemd(_ workplace: Workplace) throws -> Program {
    try Program(
      [
        "NOTIFY_SOCKET=\(workplace.file("notify").path)", Program.binary.path, "serve",
        "--config", workplace.configPath,
      ], in: workplace, name: "serve", program: URL(fileURLWithPath: "/usr/bin/env"))
  }

  /// The daemon tells systemd when a reload begins and when it ends, also when the reload fails.
  @Test func `the daemon tells systemd when a reload begins and ends`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    let mailbox = try Mailbox(workplace.file("notify").path)
    let program = try Self.serveUnderSystemd(workplace)
    #expect(await mailbox.hears("READY=1"))
    for (extra, status) in [("", "serving 1 container"), ("\nsever: {}", "the old config")] {
      try Self.write(try Self.config(workplace) + extra, workplace)
      program.signal(SIGHUP)
      #expect(await mailbox.hears("RELOADING=1\nMONOTONIC_USEC="))
      if !extra.isEmpty { #expect(await mailbox.hears("STATUS=", status)) }
      #expect(await mailbox.hears("READY=1"))
    }
    program.signal(SIGTERM)
    #expect(await program.wait().status == 0)
  }

  /// A new budget takes effect at once, and a device whose lane rested under the old budget is
  /// woken.
  @Test func `a reload with a larger budget wakes a waiting device`() async throws {
    let (workplace, standin) = try await Workplace.withStandin(
      window: "0s", extra: "budget: { background: { max: 1, per: 1h } }")
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    let token = String(repeating: "ab", count: 32)
    let phone = Phone(daemon.web, user: "_abc", in: workplace, pushToken: token)
    try await phone.register()
    try await phone.subscribe(toZone: "Z")
    var producer = Producer(daemon.web, key: workplace.producerKey)
    for record in ["A", "B"] {
      let event = producer.event("created", record: record, zone: "Z", user: "_abc")
      #expect(try await producer.post([event]).status == 202)
      #expect(try await Pause.until { try !standin.pushes(to: token).isEmpty })
    }
    let text = try Self.config(workplace).replacing("max: 1,", with: "max: 2,")
    try Self.write(
      text.replacing("listen: 127.0.0.1:\(workplace.apiPort)", with: "listen: 127.0.0.1:1"),
      workplace)
    Self.reload(daemon)
    #expect(try await Pause.until { try standin.pushes(to: token).count == 2 })
    // The log names settings that a reload cannot change. Their old values stay in force.
    #expect(
      await Pause.until {
        daemon.program.errors.contains("restart") && daemon.program.errors.contains("server.listen")
      })
    #expect(try await daemon.web.send("GET", "/health/ready", []).status == 200)
    #expect(await daemon.stop().status == 0)
  }
}

import Foundation
import GRDB
import Testing

/// docs/outbox.md: the code on the page is the code that runs here.
@Suite(.serialized) struct OutboxPageTests {
  private static let page = "docs/outbox.md"

  @Test func `the page's blocks run against the relay of the quick start`() async throws {
    let page = try Page(Self.page)
    try PageRun.compareSamples(of: page)
    let shell = try await QuickStartShell.start()
    defer { shell.workplace.remove() }
    try await PageRun.run(page, in: shell.workplace, before: shell.variables)
    #expect(try await shell.records(in: "ReadingList").keys.sorted() == ["A2"])
    #expect(try await shell.records(in: "Numbered") == ["A1": "tag-3"])
    #expect(await shell.stop() == 0)
  }

  @Test(.enabled(if: PostgreSQL.isInstalled, "PostgreSQL's server is not installed"))
  func `the page's statements for PostgreSQL keep and mark an outbox`() async throws {
    let shell = try await QuickStartShell.start()
    defer { shell.workplace.remove() }
    let server = try await PostgreSQL.start(in: shell.workplace)
    try await PageRun.run(
      try Page(Self.page), in: shell.workplace, before: "\(shell.variables)\n\(server.variables)",
      with: "postgres")
    #expect(try await shell.records(in: "ReadingList").keys.sorted() == ["P1"])
    await server.stop()
    #expect(await shell.stop() == 0)
  }

  /// The proxy cuts requests and answers, and answers 410, 429 and 503 in the relay's place.
  @Test func `the page's poster in Python reports each change in order over a bad network`()
    async throws
  {
    let shell = try await QuickStartShell.start()
    defer { shell.workplace.remove() }
    for block in try Page(Self.page).blocks {
      guard let name = Page.value("file", of: block) else { continue }
      try block.text.write(
        to: shell.workplace.file(name), atomically: true, encoding: .utf8)
    }
    let proxy = try await FaultyProxy.start(to: shell.workplace.api, rarity: 2)
    let app = "\(Workplace.container)/development"
    func notes(_ arguments: String...) async throws {
      let ended = try await Program(
        ["-C", shell.workplace.directory.path, "python3", "notes.py"] + arguments,
        in: shell.workplace, name: "notes", program: URL(fileURLWithPath: "/usr/bin/env")
      ).wait()
      #expect(ended.status == 0, "\(ended.errors)")
    }
    for number in 0..<12 {
      try await notes("save", "ReadingList", "A\(number % 4)", "text \(number)")
      if number % 5 == 4 { try await notes("delete", "ReadingList", "A\(number % 4)") }
      try await notes("post", "http://127.0.0.1:\(proxy.port)/events/1/\(app)", "producer.key")
    }
    let database = try DatabaseQueue(path: shell.workplace.file("notes.db").path)
    try await Self.expect(shell, equals: database)
    #expect(try await Self.count(database, "accepted_at IS NULL") == 0)
    try await proxy.stop()
    #expect(await shell.stop() == 0)
  }

  @Test func `a change that fails leaves neither a record nor a row`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let store = NoteStore(database: try Self.database(in: workplace))
    try await store.database.write { db in
      try db.execute(
        sql: """
          CREATE TRIGGER refuse BEFORE INSERT ON outbox WHEN new.type LIKE '%updated'
          BEGIN SELECT RAISE(ABORT, 'no room'); END
          """)
    }
    try store.change("A1", in: "ReadingList", of: "_alice", to: "first")
    #expect(throws: DatabaseError.self) {
      try store.change("A1", in: "ReadingList", of: "_alice", to: "second")
    }
    let text = try await store.database.read { db in
      try String.fetchOne(db, sql: "SELECT text FROM note")
    }
    #expect(text == "first")
    #expect(try await Self.count(store.database, "1") == 1)
  }

  /// The poster first gets the answers that the page's table names, one after the other, and then
  /// the relay's own answers.
  @Test func `the page's poster in Swift repeats, halves, and marks what is refused`() async throws
  {
    let shell = try await QuickStartShell.start()
    defer { shell.workplace.remove() }
    let store = NoteStore(database: try Self.database(in: shell.workplace))
    for number in 1...4 {
      try store.change("A\(number)", in: "ReadingList", of: "_alice", to: "text")
    }
    try await store.database.write { db in
      try db.execute(
        sql: """
          UPDATE outbox SET data = json_remove(data, '$.record.recordType')
          WHERE data LIKE '%"A2"%'
          """)
    }
    var scripted: [(Int, Int?, String)] = [
      (429, 0, "{}"), (503, 0, "<html>"), (422, 0, "{}"), (413, nil, "{}"),
    ]
    var sent: [[String]] = []
    let poster = OutboxPoster(database: store.database) { body in
      sent.append(JSON(data: body).array.compactMap { $0["id"].string })
      if !scripted.isEmpty {
        let (status, wait, text) = scripted.removeFirst()
        return .init(status: status, retryAfter: wait, body: Data(text.utf8))
      }
      // A failure here is a missing answer, which the poster has to survive.
      let answer = try? await Producer.send(
        [UInt8](body), to: shell.daemon.web, key: shell.workplace.producerKey)
      return answer.map { .init(status: $0.status, body: Data($0.json.text.utf8)) }
    }
    try await poster.post()
    let ids = try await store.database.read { db in
      try String.fetchAll(db, sql: "SELECT event_id FROM outbox ORDER BY id")
    }
    let (all, half) = (ids, Array(ids.prefix(2)))
    #expect(sent == [all, all, all, all, half, Array(ids.suffix(2))])
    #expect(try await Self.count(store.database, "accepted_at IS NOT NULL") == 3)
    let refusal = try await store.database.read { db in
      try String.fetchAll(db, sql: "SELECT refusal FROM outbox WHERE refusal IS NOT NULL")
    }
    #expect(refusal.count == 1 && refusal[0].contains("recordType"), "\(refusal)")
    #expect(try await shell.records(in: "ReadingList").keys.sorted() == ["A1", "A3", "A4"])
    #expect(await shell.stop() == 0)
  }

  private static func database(in workplace: Workplace) throws -> DatabaseQueue {
    let database = try DatabaseQueue(path: workplace.file("server.db").path)
    let tables = try #require(
      try Page(page).blocks.first { Page.value("file", of: $0) == "outbox.sql" })
    try database.write { db in try db.execute(sql: tables.text) }
    return database
  }

  private static func count(_ database: DatabaseQueue, _ condition: String) async throws -> Int {
    try await database.read { db in
      try Int.fetchOne(db, sql: "SELECT count(*) FROM outbox WHERE \(condition)") ?? 0
    }
  }

  /// The relay's feed names the server's records with their present tags.
  private static func expect(
    _ shell: QuickStartShell, equals database: DatabaseQueue
  ) async throws {
    let rows = try await database.read { db in
      try Row.fetchAll(db, sql: "SELECT name, tag FROM note").map { row in
        (row["name"] as String, row["tag"] as String)
      }
    }
    #expect(!rows.isEmpty)
    #expect(
      try await shell.records(in: "ReadingList") == Dictionary(rows) { first, _ in first })
  }
}

import Foundation
import RelayCore
import RelayEngine
import RelayStore
import Testing

/// Requests and changes of the largest size allowed, on the real binary and its real files.
@Suite(.serialized) struct LargeRequestTests {
  private static let subscribers = 300
  private static let articles = (1...5).map { "L\($0)" }

  /// Three hundred subscribers want the large value of five public records, so each change goes to
  /// every partition. A refused request is accepted when it is repeated, memory stays bounded, the
  /// daemon survives a kill and restart in the middle, and every change reaches every subscriber.
  @Test func `large public changes for many subscribers block no caller`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    var daemon = try await RunningDaemon.start(in: workplace)
    try await Self.subscribeAll(to: daemon)
    let larger = try await Self.post([Self.article("larger", bytes: 4 << 20)], to: daemon)
    #expect(larger.status == 413, "one event has at most 1 MiB")
    for name in Self.articles {
      try await Self.postUntilTaken([Self.article(name, bytes: 1_000_000)], to: daemon)
    }
    var producer = Producer(daemon.web, key: workplace.producerKey)
    try await Self.postUntilTaken(
      [producer.event("created", record: "A", zone: "Notes", user: "_abc")], to: daemon)
    #expect(try Self.peakMiB(of: daemon) < 1_024)
    await daemon.kill()

    daemon = try await RunningDaemon.start(in: workplace)
    let isDone = try await Pause.until(seconds: 60) {
      let status = try await daemon.status()
      return status["fanouts"]["running"].int == 0 && status["store"]["journalTail"].int == 0
    }
    #expect(isDone)
    #expect(try await daemon.status()["healthy"].bool == true)
    #expect(try Self.peakMiB(of: daemon) < 1_024)
    #expect(await daemon.stop().status == 0)
    let untold = try await Self.subscribersNotTold(in: workplace.file("store"))
    #expect(untold.isEmpty, "\(untold.count) of \(Self.subscribers), such as \(untold.prefix(3))")
  }

  /// Nine thousand changes of one zone in one request are more than a commit normally holds. After
  /// a kill the store has all of them, or none. Two kills come as soon as the journal is written,
  /// and the third kill comes at a random moment.
  @Test func `a kill never leaves a part of a request in the store`() async throws {
    let (workplace, _) = try await Workplace.withStandin(
      extra: "limits: { eventsPerRequest: 10000, requestBodyBytes: 8MiB }")
    defer { workplace.remove() }
    let count = 9_000
    var daemon = try await RunningDaemon.start(in: workplace)
    for round in 1...3 {
      var producer = Producer(daemon.web, key: workplace.producerKey)
      let events = (0..<count).map { number in
        var event = producer.event("created", record: "R\(number)", zone: "Z\(round)", user: "_abc")
        event["id"] = "\(round)-\(number)"
        return event
      }
      let body = try Producer.encode(events)
      let (web, key) = (daemon.web, workplace.producerKey)
      let before = Self.lastCommit(in: workplace)
      // The kill may lose this answer, and the test accepts that.
      async let posted = try? Producer.send(body, to: web, key: key)
      if round < 3 {
        let end = ContinuousClock.now + .seconds(20)
        while Self.lastCommit(in: workplace) == before, ContinuousClock.now < end {
          await Task.yield()
        }
      } else {
        let moment = ContinuousClock.now + .milliseconds(Int.random(in: 100...2_000))
        while ContinuousClock.now < moment { await Task.yield() }
      }
      await daemon.kill()
      let isAnswered = await posted?.status == 202
      daemon = try await RunningDaemon.start(in: workplace)
      var phone = Phone(
        daemon.web, user: "_abc", in: workplace, pushToken: String(repeating: "ab", count: 32))
      try await phone.catchUp(page: 200)
      let found = phone.zones["Z\(round)"]?.count ?? 0
      #expect(found == count || (found == 0 && !isAnswered), "round \(round): \(found)")
    }
    #expect(await daemon.stop().status == 0)
  }

  /// The time of the last write to the journal's log; `nil` means that there is no log.
  private static func lastCommit(in workplace: Workplace) -> Date? {
    let path = workplace.file("store/journal.db-wal").path
    // The file does not exist before the first commit.
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.modificationDate] as? Date
  }

  /// Subscribes all users as CloudKit's clients do, at most eight users at a time.
  private static func subscribeAll(to daemon: RunningDaemon) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<subscribers {
        if number >= 8 { try await group.next() }
        group.addTask {
          let phone = Phone(
            daemon.web, user: Readership.user(number).name, in: daemon.workplace, pushToken: "")
          let answer = try await phone.modify(
            [
              [
                "operationType": "create",
                "subscription": [
                  "subscriptionID": "articles", "subscriptionType": "query",
                  "query": ["recordType": "Article"],
                  "notificationInfo": ["additionalFields": ["body"]],
                ],
              ]
            ], database: "public")
          guard answer[0]["serverErrorCode"].isNull else {
            throw TestFailure("subscribe: \(answer)")
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func post(
    _ events: [[String: Any]], to daemon: RunningDaemon
  ) async throws -> Web.Answer {
    try await Producer.send(
      Producer.encode(events), to: daemon.web, key: daemon.workplace.producerKey)
  }

  /// Posts `events` until the relay accepts them. Before that, the relay may answer 503 with
  /// `retryAfter`.
  private static func postUntilTaken(
    _ events: [[String: Any]], to daemon: RunningDaemon
  ) async throws {
    let isTaken = try await Pause.until(seconds: 60) {
      let answer = try await post(events, to: daemon)
      if answer.status == 202 { return true }
      guard answer.status == 503, answer.json["retryAfter"].int != nil else {
        throw TestFailure("post: \(answer.status) \(answer.json)")
      }
      return false
    }
    #expect(isTaken)
  }

  private static func article(_ name: String, bytes: Int) -> [String: Any] {
    [
      "specversion": "1.0", "id": "large-\(name)", "source": "/records/api-1",
      "type": "zonerelay.record.created",
      "data": [
        "database": "public",
        "record": [
          "recordName": name, "recordType": "Article",
          "fields": ["body": ["value": String(repeating: "x", count: bytes), "type": "STRING"]],
        ],
      ],
    ]
  }

  /// The users whose feeds do not hold every article exactly once.
  private static func subscribersNotTold(in directory: URL) async throws -> [String] {
    let store = try SQLiteStore(StoreSettings(directory: directory.path))
    var untold: [String] = []
    for number in 0..<subscribers {
      let user = Readership.user(number)
      let answer = try await store.page(
        PageQuery(
          feed: FeedKey(scope: Readership.scope, kind: .notifications(user)), reader: user,
          after: nil, limit: 20))
      var told: [String] = []
      if case .page(let page) = answer {
        for case .notification(_, _, let record?) in page.entries.map(\.subject) {
          told.append(record)
        }
      }
      if told.sorted() != articles { untold.append("\(user.name): \(told)") }
    }
    await store.close()
    return untold
  }

  /// The largest amount of memory that the daemon has used since its start, in MiB.
  private static func peakMiB(of daemon: RunningDaemon) throws -> Int {
    let status = try String(
      contentsOfFile: "/proc/\(daemon.program.pid)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.split(whereSeparator: \.isWhitespace)[1])) / 1_024
  }
}

import Foundation
import RelayCurl

/// The demo's story: a change travels from producer to log to push to catch-up. Every step is
/// printed so that a new user understands it.
struct DemoStory {
  let place: DemoPlace
  let web: DemoWeb
  let console: Console
  private let user = "_alice"
  private let zone = ["zoneName": "ReadingList", "ownerRecordName": "_alice"]

  func tell() async throws {
    let token = try await place.userToken(user)
    let phone = DemoPhone(
      name: "Alice's phone", pushToken: String(repeating: "a1", count: 32), token: token)
    let tablet = DemoPhone(
      name: "Alice's tablet", pushToken: String(repeating: "b2", count: 32), token: token)
    try await begin(phone, tablet)
    try await oneChange(phone, tablet)
    try await burst(phone, tablet)
    try await end()
  }

  private func begin(_ phone: DemoPhone, _ tablet: DemoPhone) async throws {
    say(
      "A relay is running", "It listens on \(web.base) and keeps its log in SQLite.",
      "An APNs look-alike stands in for Apple: it checks what Apple checks",
      "and writes down each push."
    )
    for device in [phone, tablet] {
      _ = try await web.device(
        "tokens/register",
        [
          "apnsEnvironment": "development", "apnsToken": device.pushToken,
          "clientId": device.client,
        ], device)
    }
    let subscription: [String: Any] = [
      "subscriptionID": "reading", "subscriptionType": "zone", "zoneID": zone,
      "notificationInfo": ["shouldSendContentAvailable": true],
    ]
    _ = try await web.database(
      "subscriptions/modify",
      ["operations": [["operationType": "create", "subscription": subscription]]], phone)
    say(
      "Two devices register", "\(phone.name) and \(tablet.name) registered their push tokens.",
      "Alice subscribed to her zone ReadingList: a subscription fires for all her devices.")
  }

  private func oneChange(_ phone: DemoPhone, _ tablet: DemoPhone) async throws {
    let started = ContinuousClock.now
    let answer = try await web.report([event(1, "Swift on Linux", by: tablet)])
    say(
      "The record server reports a change",
      "\(tablet.name) saved an article; the record server posted it as a CloudEvent.",
      "202 \(answer.text): it is durable, and every read shows it from now on.")
    let push = try await nextPush(to: phone, after: 0)
    let waited = Int((ContinuousClock.now - started) / .milliseconds(1))
    say(
      "The phone is woken",
      "After \(waited) ms (500 of them a window, to gather what follows) a push went out:",
      "apns-push-type \(push["headers"]["apns-push-type"].string), apns-priority "
        + push["headers"]["apns-priority"].string
        + ", apns-id \(push["headers"]["apns-id"].string)",
      push["payload"].text,
      "The tablet was not woken: it made the change itself (\(try count(to: tablet)) pushes).")
    let feed = try await changes(phone)
    say(
      "The phone catches up",
      "A push is a hint; the log is the truth. The phone asks what changed:",
      "POST …/changes/zone -> \(feed["records"].text)")
  }

  private func burst(_ phone: DemoPhone, _ tablet: DemoPhone) async throws {
    let before = try count(to: phone)
    let events = (2...101).map { event($0, "Article \($0 % 10)", by: tablet) }
    _ = try await web.report(events)
    _ = try await nextPush(to: phone, after: before)
    try await untilQuiet()
    let feed = try await changes(tablet)
    say(
      "A burst becomes one wake",
      "100 more changes to 10 records were reported; the phone got "
        + "\(try count(to: phone) - before) push.",
      "The tablet, which got none at all, reads the same log from the start:",
      "\(feed["records"].array.count) records, "
        + (feed["moreComing"].bool ? "more to come." : "complete.")
    )
  }

  private func end() async throws {
    let status = try await status()
    say(
      "The ledger balances",
      "Every delivery is accounted for: \(status["ledger"].text)",
      "Healthy: \(status["healthy"].bool ? "yes" : "no"). Ask a real one with: zonerelay status"
    )
    console.answer(
      line: "\nNext: docs/quick-start.md sets up a relay of your own; its manual is "
        + "config/zonerelay.yaml.")
  }

  private func say(_ title: String, _ lines: String...) {
    console.answer(line: "\n\(console.paint.strong(title))")
    for line in lines { console.answer(line: "  \(line)") }
  }

  /// An article saved by one of Alice's devices, as the record server reports it.
  private func event(_ number: Int, _ title: String, by device: DemoPhone) -> [String: Any] {
    [
      "specversion": "1.0", "id": "demo-\(number)", "source": "/records/demo",
      "type": "zonerelay.record.updated",
      "data": [
        "database": "private", "zoneID": zone,
        "record": [
          "recordName": title, "recordType": "Article", "recordChangeTag": "\(number)",
        ],
        "changedBy": ["userRecordName": user, "clientId": device.client],
      ],
    ]
  }

  /// The zone's feed from the start.
  private func changes(_ device: DemoPhone) async throws -> LooseJSON {
    let answer = try await web.database("changes/zone", ["zones": [["zoneID": zone]]], device)
    return answer["zones"].array.first ?? LooseJSON(nil)
  }

  private func pushes(to device: DemoPhone) throws -> [LooseJSON] {
    guard FileManager.default.fileExists(atPath: place.pushes) else { return [] }
    let data = try Data(contentsOf: URL(fileURLWithPath: place.pushes))
    // The last line may be half written; it is complete once its newline is there.
    let end = data.lastIndex(of: UInt8(ascii: "\n")) ?? data.startIndex
    return try data[..<end].split(separator: UInt8(ascii: "\n"))
      .map { try LooseJSON(body: Array($0)) }
      .filter { $0["path"].string.hasSuffix(device.pushToken) }
  }

  private func count(to device: DemoPhone) throws -> Int { try pushes(to: device).count }

  /// Waits for a push after the first `known` pushes.
  private func nextPush(to device: DemoPhone, after known: Int) async throws -> LooseJSON {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      let all = try pushes(to: device)
      if all.count > known { return all[known] }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw Failure(
      .failed, "no push came within 30 s", hint: "run with --keep and read relay.log")
  }

  /// Waits until no delivery is pending, for at most 30 seconds.
  private func untilQuiet() async throws {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      let status = try await status()
      if status["ledger"]["pending"].int == 0, status["lanes"]["inFlight"].int == 0 { return }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  private func status() async throws -> LooseJSON {
    let answer = try await ControlClient(socket: place.control).get("/status")
    return try LooseJSON(body: answer.body)
  }
}

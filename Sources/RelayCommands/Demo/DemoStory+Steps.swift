import Foundation
import RelayCurl

extension DemoStory {
  /// An article saved by one of Alice's devices, as the record server reports it.
  func event(_ number: Int, _ title: String, by device: DemoPhone) -> [String: Any] {
    [
      "specversion": "1.0", "id": "demo-\(number)", "source": "/records/demo",
      "type": "zonerelay.record.updated",
      "data": [
        "database": "private", "zoneID": ["zoneName": "ReadingList", "ownerRecordName": "_alice"],
        "record": [
          "recordName": title, "recordType": "Article", "recordChangeTag": "\(number)",
        ],
        "changedBy": ["userRecordName": "_alice", "clientId": device.client],
      ],
    ]
  }

  /// The zone's feed from the start.
  func changes(_ device: DemoPhone) async throws -> LooseJSON {
    let zone = ["zoneName": "ReadingList", "ownerRecordName": "_alice"]
    let answer = try await web.database(
      "changes/zone", ["zones": [["zoneID": zone]]], device)
    return answer["zones"].array.first ?? LooseJSON(nil)
  }

  func pushes(to device: DemoPhone) throws -> [LooseJSON] {
    guard FileManager.default.fileExists(atPath: place.pushes) else { return [] }
    let data = try Data(contentsOf: URL(fileURLWithPath: place.pushes))
    // The last line may be half written; it is complete once its newline is there.
    let end = data.lastIndex(of: UInt8(ascii: "\n")) ?? data.startIndex
    return try data[..<end].split(separator: UInt8(ascii: "\n"))
      .map { try LooseJSON(body: Array($0)) }
      .filter { $0["path"].string.hasSuffix(device.pushToken) }
  }

  func count(to device: DemoPhone) throws -> Int { try pushes(to: device).count }

  /// Waits for a push after the first `known` pushes.
  func nextPush(to device: DemoPhone, after known: Int) async throws -> LooseJSON {
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
  func untilQuiet() async throws {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      let status = try await status()
      if status["ledger"]["pending"].int == 0, status["lanes"]["inFlight"].int == 0 { return }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  func status() async throws -> LooseJSON {
    let answer = try await ControlClient(socket: place.control).get("/status")
    return try LooseJSON(body: answer.body)
  }
}

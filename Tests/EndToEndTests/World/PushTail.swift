import Foundation

/// Reads the log of an APNs stand-in as it grows, reduced to the fields that the fault tests check.
struct PushTail {
  struct Push {
    /// Seconds since 1970, to the millisecond.
    var time: Double
    var token: String
    var id: String
    /// The number of the device's wake.
    var wake: Int
    /// The HTTP status of the answer; 0 means that the stand-in sent no answer.
    var status: Int
    var reason: String?
  }

  private let file: URL
  private var offset: UInt64 = 0
  private(set) var pushes: [Push] = []

  init(_ standin: OtherStandin) {
    file = standin.directory.appendingPathComponent("pushes.jsonl")
  }

  /// Reads the lines since the last call.
  mutating func read() throws {
    let handle = try FileHandle(forReadingFrom: file)
    defer { handle.closeFile() }
    try handle.seek(toOffset: offset)
    let data = try handle.readToEnd() ?? Data()
    let (lines, count) = JSON.finished(data)
    offset += UInt64(count)
    let times = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    for json in lines {
      let path = json["path"].string ?? ""
      pushes.append(
        Push(
          time: try times.parse(json["time"].string ?? "").timeIntervalSince1970,
          token: String(path.dropFirst("/3/device/".count)),
          id: json["headers"]["apns-id"].string ?? "",
          wake: json["payload"]["zr"]["w"].int ?? 0, status: json["status"].int ?? 0,
          reason: json["reason"].string))
    }
  }

  /// Checks that each wake has one `apns-id`, that a device's wakes come in order, that at most
  /// `changes` wakes are delivered, and that the number of wakes delivered twice is at most the
  /// number of pushes that ended without an answer.
  ///
  /// - Parameter unanswered: the relay's count of pushes that ended without an answer.
  /// - Returns: the violations, for each device.
  func doubled(since start: Int, changes: Int, unanswered: Int) -> [String] {
    var wrong: [String] = []
    var twice: [String] = []
    for (token, pushes) in Dictionary(grouping: pushes[start...], by: \.token) {
      var seen: [(id: String, wake: Int, delivered: Int)] = []
      for push in pushes {
        let counts = push.status == 200 ? 1 : 0
        if let last = seen.indices.last, seen[last].id == push.id {
          if seen[last].wake != push.wake { wrong.append("\(token): one id, two wakes") }
          seen[last].delivered += counts
        } else {
          if seen.contains(where: { $0.id == push.id || $0.wake >= push.wake }) {
            wrong.append("\(token): wake \(push.wake) again after a later one")
          }
          seen.append((push.id, push.wake, counts))
        }
      }
      let delivered = seen.count { $0.delivered > 0 }
      if delivered > changes { wrong.append("\(token): \(delivered) wakes of \(changes) changes") }
      for wake in seen where wake.delivered > 1 {
        for _ in 1..<wake.delivered {
          twice.append("\(token): wake \(wake.wake) was delivered twice")
        }
      }
    }
    return (wrong + (twice.count > unanswered ? twice : [])).sorted()
  }
}

internal import Foundation
internal import ZoneRelayClient

/// An installation of a user, and what it has not fetched yet.
struct Device {
  let user: String
  /// The zones with changes, each with the database in which the device's user sees the zone.
  var zones: [ZoneID: UserDatabase] = [:]
  var hasNotifications = false
  /// Whether something pends that no wake has told.
  var hasNews = false
  private(set) var wake: UInt32 = 0

  /// Makes the next wake, which names all that pends; nil if nothing is new.
  mutating func nextWake(in container: String) -> Answer? {
    guard hasNews else { return nil }
    hasNews = false
    wake += 1
    var pending: [String: Any] = ["w": wake, "n": zones.count + (hasNotifications ? 1 : 0)]
    if !zones.isEmpty {
      pending["z"] = zones.sorted { $0.key < $1.key }.map { zone, database -> [Any] in
        [zone.name, zone.owner, database == .private ? 1 : 3]
      }
    }
    if hasNotifications { pending["q"] = 1 }
    return Answer([
      "aps": ["content-available": 1],
      "ck": [
        "ce": 2, "cid": container, "ckuserid": user, "nid": UUID().uuidString.lowercased(),
      ],
      "zr": pending,
    ])
  }

  /// The device acknowledges a wake, so what the wake named pends no longer. Nothing changes if
  /// there was a newer wake or a newer change.
  mutating func acknowledge(_ number: Int) {
    guard number == Int(wake), !hasNews else { return }
    zones = [:]
    hasNotifications = false
  }
}

import Crypto
import Foundation
import enum RelayCore.Hex
import ZoneRelayClient

/// A phone's copy of its zones: names and change tags of records. If a directory is given, it holds
/// one file for each zone, and each page of a zone replaces the whole file.
actor PhoneCopy: ChangeSink {
  private struct Zone: Codable {
    var zone: ZoneID
    var records = ZoneRecords()
  }

  private var zones: [ZoneID: Zone] = [:]
  private let directory: URL?
  private let number: Int
  private let talk: PhoneTalk

  /// - Throws: `Failure` if the directory or a file in it cannot be used.
  init(directory: String?, number: Int, talk: PhoneTalk) throws {
    self.directory = directory.map { URL(fileURLWithPath: $0).appendingPathComponent("zones") }
    self.number = number
    self.talk = talk
    guard let folder = self.directory else { return }
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        // A crash in the middle of a save leaves a draft.
        if file.hasSuffix(".draft") { unlink(folder.appendingPathComponent(file).path) }
        guard file.hasSuffix(".json") else { continue }
        let json = try Data(contentsOf: folder.appendingPathComponent(file))
        let zone = try JSONDecoder().decode(Zone.self, from: json)
        zones[zone.zone] = zone
      }
    } catch {
      throw Failure(
        .failed, "--state: \(folder.path): \(error.localizedDescription)",
        hint: "name another directory, or remove this one: the phone then begins anew")
    }
  }

  func apply(_ page: ZonePage) async throws {
    var zone = zones[page.zone] ?? Zone(zone: page.zone)
    zone.records.apply(page)
    if let file = file(of: page.zone) { try StateFile(file).save(try JSONEncoder().encode(zone)) }
    zones[page.zone] = zone
    let changed = page.changed.map {
      PhoneEvent.Record(
        recordName: $0.name, recordType: $0.type, recordChangeTag: $0.changeTag, own: $0.own)
    }
    await talk.tell(
      PhoneEvent(
        event: "page", phone: number, zone: page.zone, changed: changed,
        deleted: page.deleted.map(\.name), startsOver: page.startsOver, isLast: page.isLast,
        gap: page.gap))
  }

  func remove(_ zone: ZoneID, _ why: ZoneLoss) async throws {
    try erase(zone)
    zones[zone] = nil
    await talk.tell(PhoneEvent(event: "removed", phone: number, zone: zone, why: "\(why)"))
  }

  func apply(_ page: NotificationPage) async throws {
    guard !page.notifications.isEmpty else { return }
    await talk.tell(
      PhoneEvent(
        event: "notifications", phone: number, isLast: page.isLast,
        count: page.notifications.count))
  }

  func accountChanged(from: String?, to: String?) async throws {
    for zone in zones.keys { try erase(zone) }
    zones = [:]
    await talk.tell(PhoneEvent(event: "account", phone: number, user: to))
  }

  private func erase(_ zone: ZoneID) throws {
    guard let file = file(of: zone), FileManager.default.fileExists(atPath: file.path) else {
      return
    }
    try FileManager.default.removeItem(at: file)
  }

  /// The file of a zone, named by a hash, because the name of a zone may have characters that no
  /// file name may have.
  private func file(of zone: ZoneID) -> URL? {
    let digest = SHA256.hash(data: Data("\(zone.owner)\n\(zone.name)".utf8))
    return directory?.appendingPathComponent("\(Hex.text(Array(digest.prefix(16)))).json")
  }
}

import Foundation
import RelayCore
@testable import RelayStore

/// Parsers of the keys of a store's rows, and of a whole store: `relay.db` and `journal.db`.
extension FuzzedParser {
  static let fromFiles: [FuzzedParser] = [
    FuzzedParser("store-key", seeds: storeKeys) { bytes throws(Defect) in
      let data = Data(bytes)
      // The parser refuses bytes that are no key. A key that was read is written as the same bytes.
      if let subject = try? Subject(data) {
        try Defect.unless(
          StoreKey(subject).bytes == bytes, "a subject's key is another when written again")
      }
      var reader = StoreKeyReader(bytes)
      if let key = try? reader.grant() {
        let again = StoreKey(scope: key.scope, zone: key.zone, participant: key.participant)
        try Defect.unless(again.bytes == bytes, "a grant's key is another when written again")
      }
      reader = StoreKeyReader(bytes)
      _ = try? reader.device()
      reader = StoreKeyReader(bytes)
      _ = try? reader.badge()
    },
    FuzzedParser("store-files", seeds: storeDamage) { bytes throws(Defect) in
      let isRead = DamagedStore.start(bytes) { try await DamagedStore.read($0) }
      try Defect.unless(isRead != nil, "there is no place for the files of a store")
      try Defect.unless(
        isRead == true || bytes.count >= 5, "the files of a store that is whole cannot be read")
    },
  ]

  private static let storeKeys: [[UInt8]] = [
    StoreKey(Subject.record("A")), StoreKey(Subject.zone(ZoneID(name: "Z", owner: UserID("_a")))),
    StoreKey(
      Subject.notification(
        SubscriptionID("s"), zone: ZoneID(name: "Z", owner: UserID("_a")), record: "A\u{0}B")),
    StoreKey(
      scope: scope, zone: ZoneID(name: "Z", owner: UserID("_a")), participant: UserID("_b")),
    StoreKey(FuzzRelay.device),
  ].map(\.bytes)

  private static let storeDamage: [[UInt8]] =
    [[]]
    + [0, 1, 0, 1].enumerated().map { index, file in
      [file, 0, UInt8(index * 3), UInt8(index * 77), 0xff]
    }
}

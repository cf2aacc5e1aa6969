import Foundation
@testable import RelayCore
@testable import RelayEngine
@testable import RelayHTTP
@testable import RelayPush
@testable import RelayStore
import RelayWire

/// Parsers of what the daemon keeps on disk: the blobs in the store's files, and provider tokens.
/// SQLite itself reads the pages around the blobs.
extension FuzzedParser {
  static let fromDisk: [FuzzedParser] = [
    FuzzedParser("journal-row", seeds: [journalRow]) { bytes throws(Defect) in
      _ = try? JournalRow.marks(in: bytes)
      guard let entries = try? JournalRow.entries(in: bytes, where: { _ in true }) else { return }
      // A value that was read can be written and read again as equal.
      let again = try? JournalRow.entries(in: JournalRow.blob(of: entries), where: { _ in true })
      try Defect.unless(
        again == entries, "a journal row that was read is another when written again")
    },
    FuzzedParser(
      "kept-token",
      texts: ["1795000000000\na.b.c\n", "-9223372036854775808\na\n", "1\na\n1795000000000\nb\n"]
    ) {
      let kept = PersistedProviderToken.all(in: String(decoding: $0, as: UTF8.self))
      var rota = ProviderTokenRotation(kept: kept)
      _ = rota.use(at: now)
    },
    blob("lane-record", LaneRecord.self), blob("detail", Detail.self),
    blob("subscription-row", SubscriptionRow.self), blob("zone-numbers", SequenceTracker.self),
    blob("message", Forwarded.Message.self), blob("fan-out", FanOut.self),
    blob("feedback", Feedback.self), blob("remembered-list", RememberedList.self),
    blob("address-body", Address.self),
  ]

  private static func blob<Value: BlobCoded & SendableMetatype>(
    _ name: String, _: Value.Type
  ) -> FuzzedParser {
    let version: [UInt8] = [Value.blobVersion]
    let seeds = [0, 1, 12, 60, 200].map { count in
      version + (0..<count).map { UInt8(truncatingIfNeeded: $0 % 5) }
    }
    return FuzzedParser(name, seeds: seeds) { bytes throws(Defect) in
      // The current version comes first, because a blob of another version reaches no further code.
      guard let value = try? Value(blob: version + bytes.dropFirst()) else { return }
      let written = value.blob
      guard let again = try? Value(blob: written) else {
        throw Defect(reason: "\(Value.self) was read, and cannot be read when written again")
      }
      try Defect.unless(
        again.blob == written, "\(Value.self) changes when it is written again")
    }
  }

  /// A row made from the valid events that fuzzing starts from, so that it has every kind of field.
  private static var journalRow: [UInt8] {
    let reader = EventReader(
      scope: scope, producer: "records-1", ids: FuzzKeys(), limits: HTTPLimits())
    var entries: [JournalEntry] = []
    for text in eventSeeds {
      guard let root = try? JSONTree(Array(text.utf8)).root else { continue }
      for event in (try? root.elements()) ?? [root] {
        guard let change = try? reader.change(event) else { continue }
        entries.append(
          JournalEntry(
            partition: PartitionID(3), ordinal: Ordinal(UInt64(entries.count + 1)), at: now,
            fact: .change(change)))
      }
    }
    precondition(entries.count == 2, "the seeds of events are no events any more")
    return JournalRow.blob(of: entries)
  }
}

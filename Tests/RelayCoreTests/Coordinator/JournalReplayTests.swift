import Testing

@testable import RelayCore

/// What a replay tells the flight recorder.
@Suite struct JournalReplayTests {
  /// Replays a registration for each ordinal, a thousand at a time. Each registration makes one
  /// entry.
  private static func replay(_ count: Int) -> [TraceBatch] {
    var settings = RelaySettings()
    settings.isTraced = true
    var replay = JournalReplay([], eras: [:], settings: settings)
    let home = PartitionID.home(of: Sample.owner, in: Sample.scope)
    let entries = (1...count).map { number in
      JournalEntry(
        partition: home, ordinal: Ordinal(UInt64(number)),
        at: Sample.start + Span(milliseconds: Int64(number)),
        fact: .register(
          Registration(
            scope: Sample.scope, user: Sample.owner, client: Sample.client(1),
            address: Sample.address(1))))
    }
    for first in stride(from: 0, to: count, by: 1_000) {
      replay.replay(Array(entries[first..<min(count, first + 1_000)]))
    }
    return replay.trace
  }

  @Test func `a long replay keeps the newest entries, and says how many it left out`() {
    let most = JournalReplay.traceMax
    for count in [most, most + 1, most + 5_000] {
      let trace = Self.replay(count)
      let entries = trace.flatMap(\.entries)
      #expect(entries.count <= most && trace.reduce(0) { $0 + $1.count } == entries.count)
      #expect(entries.last?.at == Sample.start + Span(milliseconds: Int64(count)))
      guard case .lost(let lost) = entries.first?.event else {
        #expect(count <= most && entries.count == count)
        continue
      }
      #expect(count > most && (lost ?? 0) + entries.count - 1 == count)
      // The replay leaves out whole batches, so it leaves out at most one batch more than
      // necessary.
      #expect(entries.count > most - 1_000 && entries.first?.at == entries[1].at)
    }
  }
}

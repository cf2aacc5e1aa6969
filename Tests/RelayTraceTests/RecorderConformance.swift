import Logging
import RelayCore
import RelayEngine
import Testing

@testable import RelayTrace

/// What every flight recorder promises. Each test runs with the recorder that writes a file and
/// with the recorder in memory.
@Suite struct RecorderConformance {
  /// A kind of recorder. In each kind, a life begins with the entries of the lives before.
  enum Kind: CaseIterable, Sendable { case file, memory }

  /// The daemon's lives, one after another. Each life has a recorder, which goes on from what the
  /// recorder before it left.
  final class Lives {
    private let kind: Kind
    private let folder: Folder
    private var before: MemoryRecorder?

    init(_ kind: Kind) throws {
      self.kind = kind
      folder = try Folder()
    }

    /// Each test calls this at its end, so that the folder is not removed earlier.
    func end() { before = nil }

    func begin() -> any FlightRecorder {
      let recorder: any FlightRecorder
      switch kind {
      case .file:
        recorder = FileRecorder(
          directory: folder.path, bytes: 1 << 20, clock: HandClock(), logger: Logger(label: "t"))
      case .memory:
        let memory = MemoryRecorder(after: before, at: Sample.start)
        (before, recorder) = (memory, memory)
      }
      recorder.begin(life: folder.nextLife())
      return recorder
    }

    /// A life of the daemon that records nothing, because the recorder's file cannot be opened.
    func skip() { _ = folder.nextLife() }
  }

  private static func events(_ entries: [TraceEntry]) -> [TraceEvent] { entries.map(\.event) }

  @Test(arguments: Kind.allCases)
  func `entries come back in their order, behind the beginning of their life`(kind: Kind)
    async throws
  {
    let lives = try Lives(kind)
    defer { lives.end() }
    let recorder = lives.begin()
    let entries = (1...500).map { Sample.entry($0) }
    recorder.record(Array(entries[..<3]))
    recorder.record(Array(entries[3...]))
    let all = try await recorder.all()
    #expect(all.first?.event == .began && Array(all.dropFirst()) == entries)
    #expect(recorder.place == 500 && recorder.health.recorded == 500)
    #expect(recorder.health.trouble == nil && recorder.health.lost == 0)
    await recorder.close()
  }

  @Test(arguments: Kind.allCases)
  func `what came after the asked place is left out`(kind: Kind) async throws {
    let lives = try Lives(kind)
    defer { lives.end() }
    let recorder = lives.begin()
    recorder.record((1...4).map { Sample.entry($0) })
    let place = recorder.place
    recorder.record((5...9).map { Sample.entry($0) })
    let all = try await recorder.all(through: place)
    #expect(all.dropFirst() == (1...4).map { Sample.entry($0) }[...])
    #expect(try await recorder.all(through: 2).count == 3)
    await recorder.close()
  }

  @Test(arguments: Kind.allCases)
  func `a reader that has enough ends the reading`(kind: Kind) async throws {
    let lives = try Lives(kind)
    defer { lives.end() }
    let recorder = lives.begin()
    recorder.record((1...5_000).map { Sample.entry($0) })
    let box = EntryBox()
    try await recorder.read(through: recorder.place) { part in
      box.add(part)
      return false
    }
    #expect(!box.all.isEmpty)
    await recorder.close()
  }

  @Test(arguments: Kind.allCases)
  func `a life that ended cleanly leaves no gap`(kind: Kind) async throws {
    let lives = try Lives(kind)
    defer { lives.end() }
    let first = lives.begin()
    first.record([Sample.entry(1)])
    await first.close()
    await first.close()
    first.record([Sample.entry(99)])
    let second = lives.begin()
    second.record([Sample.entry(2)])
    let events = Self.events(try await second.all())
    #expect(
      events == [.began, Sample.entry(1).event, .began, Sample.entry(2).event])
    await second.close()
  }

  @Test(arguments: Kind.allCases)
  func `a life that ended otherwise leaves a gap of unknown size`(kind: Kind) async throws {
    let lives = try Lives(kind)
    defer { lives.end() }
    let first = lives.begin()
    first.record([Sample.entry(1)])
    _ = try await first.all()
    let second = lives.begin()
    let events = Self.events(try await second.all())
    #expect(events == [.began, Sample.entry(1).event, .lost(nil), .began])
    await second.close()
  }

  /// The first life ends cleanly, and the second life writes nothing. Only the number of the third
  /// life shows that another life came between the first and the third.
  @Test(arguments: Kind.allCases)
  func `a life that recorded nothing leaves a gap of unknown size`(kind: Kind) async throws {
    let lives = try Lives(kind)
    defer { lives.end() }
    let first = lives.begin()
    first.record([Sample.entry(1)])
    await first.close()
    lives.skip()
    let third = lives.begin()
    let events = Self.events(try await third.all())
    #expect(events == [.began, Sample.entry(1).event, .lost(nil), .began])
    await third.close()
  }
}

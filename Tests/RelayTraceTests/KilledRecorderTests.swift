import Foundation
import Logging
import RelayCore
import RelayEngine
import Synchronization
import Testing

@testable import RelayTrace

/// A recorder that is killed at any moment tells no wrong story afterwards.
///
/// A copy of the file stands for the kill. It is worse than one: the recorder goes on while it is
/// copied, so that later blocks of the copy may be newer than earlier ones, as after a power
/// failure.
@Suite struct KilledRecorderTests {
  private static func begin(_ folder: Folder, life: UInt64 = 1) -> FileRecorder {
    let recorder = FileRecorder(
      directory: folder.path, bytes: 1 << 20, clock: HandClock(), logger: Logger(label: "trace"))
    recorder.begin(life: life)
    return recorder
  }

  private static func changes(_ entries: [TraceEntry]) -> [UInt64] {
    entries.compactMap {
      if case .change(let change) = $0.event { change.notification.low } else { nil }
    }
  }

  /// Records changes with rising numbers until it is told to stop, sometimes more than find room,
  /// and sometimes one that fits into no block.
  private static func record(
    into recorder: FileRecorder, while goesOn: borrowing Atomic<Bool>
  ) async throws {
    var (random, next) = (SystemRandomNumberGenerator(), UInt64(1))
    while goesOn.load(ordering: .relaxed) {
      let count = UInt64.random(in: 1...400, using: &random)
      var entries = (next..<next + count).map { Sample.entry($0) }
      if next % 17 == 0 {
        let topic = String(repeating: "x", count: 70_000)
        let route = RouteKey(scope: Sample.scope, transport: .apns, topic: topic)
        entries.append(Sample.entry(next, .route(route, .resumed)))
      }
      recorder.record(entries)
      next += count
      // A reader writes what waits. Without one the recorder soon has more than finds room.
      if next % 5 > 0 { try await recorder.read(through: recorder.place) { _ in false } }
    }
  }

  /// The bytes of the file, read block by block while the recorder writes up to three blocks
  /// between one and the next.
  private static func copy(of path: String, while recorder: FileRecorder) async throws -> Data {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    var bytes = try file.read(upToCount: RingLayout.headBytes) ?? Data()
    while let block = try file.read(upToCount: RingLayout.blockBytes), !block.isEmpty {
      bytes += block
      let place = recorder.place + UInt64.random(in: 0...2_500)
      while recorder.place < place { await Task.yield() }
    }
    return bytes
  }

  /// Each change follows the one before it, unless the recorder says that entries are missing.
  private static func check(
    _ entries: [TraceEntry], _ place: SourceLocation = #_sourceLocation
  ) {
    var before: UInt64?
    var isGap = false
    for entry in entries {
      switch entry.event {
      case .change(let change):
        let number = change.notification.low
        if let before, !isGap, number != before + 1 {
          Issue.record("\(number) follows \(before)", sourceLocation: place)
        }
        (before, isGap) = (number, false)
      case .lost: isGap = true
      default: break
      }
    }
  }

  @Test func `a copy of the file at any moment reads without a gap that is not told`()
    async throws
  {
    let folder = try Folder()
    let recorder = Self.begin(folder)
    let goesOn = Atomic(true)
    async let recording: Void = Self.record(into: recorder, while: goesOn)
    for _ in 0..<6 {
      var bytes = try await Self.copy(of: folder.file, while: recorder)
      // The copy is killed too, and goes on once more.
      for life in 1...2 as ClosedRange<UInt64> {
        let copy = try Folder()
        try bytes.write(to: URL(fileURLWithPath: copy.file))
        let next = Self.begin(copy, life: life + 1)
        let numbers = (1...50).map { life * 10_000_000 + $0 }
        next.record(numbers.map { Sample.entry($0) })
        let all = try await next.all()
        Self.check(all)
        let mine = Array(all.suffix(52)).map(\.event)
        #expect(mine[0] == .lost(nil) && mine[1] == .began && all.count > 500)
        #expect(Self.changes(all).suffix(50) == numbers[...])
        bytes = try Data(contentsOf: URL(fileURLWithPath: copy.file))
      }
    }
    goesOn.store(false, ordering: .relaxed)
    try await recording
    Self.check(try await recorder.all())
    await recorder.close()
  }
}

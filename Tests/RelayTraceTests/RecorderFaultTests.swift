import Foundation
import Logging
@testable import RelayCore
import RelayEngine
import Testing

@testable import RelayTrace

/// What the recorder does when its file is gone, damaged or impossible to open, and when there is
/// no room for entries: the recorder shows every loss, in this life and in the next life.
@Suite struct RecorderFaultTests {
  private static func changes(_ entries: [TraceEntry]) -> [UInt64] {
    entries.compactMap {
      if case .change(let change) = $0.event { change.notification.low } else { nil }
    }
  }

  private static func gaps(_ entries: [TraceEntry]) -> [Int?] {
    entries.compactMap { entry -> Int?? in
      if case .lost(let count) = entry.event { .some(count) } else { nil }
    }
  }

  // MARK: The file is gone

  @Test(arguments: ["removed", "replaced", "cut", "emptied"])
  func `a file that an operator takes away is made again with the next write`(how: String)
    async throws
  {
    let folder = try Folder()
    let recorder = FileRecorder.begin(folder)
    recorder.record([Sample.entry(1)])
    _ = try await recorder.all()
    let file = URL(fileURLWithPath: folder.file)
    switch how {
    case "removed": try FileManager.default.removeItem(at: file)
    case "replaced": try Data("not a trace".utf8).write(to: file, options: .atomic)
    case "cut": #expect(truncate(folder.file, 70_000) == 0)
    default: #expect(truncate(folder.file, 0) == 0)
    }
    recorder.record([Sample.entry(2)])
    let all = try await recorder.all()
    #expect(Self.changes(all) == [2] && Self.gaps(all) == [nil])
    #expect(recorder.health.trouble == nil)
    await recorder.close()
    let next = FileRecorder.begin(folder)
    let later = try await next.all()
    #expect(Self.changes(later) == [2] && Self.gaps(later) == [nil])
    await next.close()
  }

  /// `cp old.ring trace.ring` writes into the same file, and keeps its size.
  @Test(arguments: ["zeroes", "zeroes at its head", "an older copy"])
  func `a file that is overwritten in place is noticed with the next write`(by what: String)
    async throws
  {
    let folder = try Folder()
    let recorder = FileRecorder.begin(folder)
    recorder.record([Sample.entry(1)])
    _ = try await recorder.all()
    var copy = try Data(contentsOf: URL(fileURLWithPath: folder.file))
    let isOld = what == "an older copy"
    if !isOld { copy = Data(count: what == "zeroes" ? copy.count : 4_096) }
    recorder.record([Sample.entry(2)])
    _ = try await recorder.all()
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file))
    try file.write(contentsOf: copy)
    try file.close()
    recorder.record([Sample.entry(3)])
    let all = try await recorder.all()
    #expect(Self.changes(all) == (isOld ? [1, 3] : [3]))
    #expect(Self.gaps(all) == [nil])
    #expect(all.dropLast().last?.event == .lost(nil))
    await recorder.close()
    let next = FileRecorder.begin(folder)
    let later = try await next.all()
    #expect(Self.changes(later) == Self.changes(all) && Self.gaps(later) == [nil])
    await next.close()
  }

  /// A read also makes the file again if it was removed, so an operator's question gets an answer.
  @Test func `a reader, too, notices that the file was removed`() async throws {
    let folder = try Folder()
    let recorder = FileRecorder.begin(folder)
    recorder.record([Sample.entry(1)])
    _ = try await recorder.all()
    try FileManager.default.removeItem(atPath: folder.file)
    let all = try await recorder.all()
    #expect(Self.changes(all).isEmpty && Self.gaps(all) == [nil])
    await recorder.close()
  }

  @Test(.timeLimit(.minutes(1)))
  func `a file that can be written again is opened without a new entry`() async throws {
    let folder = try Folder()
    let clock = HandClock()
    try folder.blockFile()
    let recorder = FileRecorder.begin(folder, clock: clock)
    while recorder.health.trouble == nil { await Task.yield() }
    try FileManager.default.removeItem(atPath: folder.file)
    clock.advance(FileRecorder.testRetryAfter)
    while recorder.health.trouble != nil { await Task.yield() }
    #expect(FileManager.default.fileExists(atPath: folder.file))
    await recorder.close()
  }

  // MARK: Entries are dropped

  private static let many = (0...UInt64(FileRecorder.waitingMax)).map { Sample.entry($0) }

  @Test func `a reader finds a drop before the next entry comes`() async throws {
    let folder = try Folder()
    let recorder = FileRecorder.begin(folder, bytes: 8 << 20)
    recorder.recordAtOnce(Self.many + Self.many)
    let place = recorder.place
    let all = try await recorder.all(through: place)
    let taken = Self.changes(all)
    #expect(taken.count > FileRecorder.waitingMax - 200)
    #expect(UInt64(taken.count + 1) == place)
    #expect(Self.gaps(all) == [2 * Self.many.count - taken.count])
    await recorder.close()
  }

  @Test func `the recorder has room for all that a recovery tells`() {
    #expect(JournalReplay.traceMax <= FileRecorder.waitingMax)
  }

  @Test func `a drop before the stop is known in the next life`() async throws {
    let folder = try Folder()
    let first = FileRecorder.begin(folder, bytes: 8 << 20)
    first.recordAtOnce(Self.many)
    let lost = first.health.lost
    await first.close()
    let second = FileRecorder.begin(folder, bytes: 8 << 20)
    let all = try await second.all()
    #expect(lost > 0 && Self.gaps(all) == [Int(lost)])
    #expect(Self.changes(all).count + Int(lost) == Self.many.count)
    await second.close()
  }

  @Test(arguments: [true, false])
  func `what could not be written is counted, also what was dropped before`(isFull: Bool)
    async throws
  {
    let folder = try Folder()
    let clock = HandClock()
    try folder.blockFile()
    let recorder = FileRecorder.begin(folder, clock: clock)
    recorder.record([Sample.entry(1), Sample.entry(2)])
    if isFull { recorder.record(Self.many) }
    await #expect(throws: TraceError.self) { try await recorder.all() }
    let lost = isFull ? 2 + Self.many.count : 2
    #expect(recorder.health.lost == UInt64(lost))
    try FileManager.default.removeItem(atPath: folder.file)
    clock.advance(FileRecorder.testRetryAfter)
    #expect(Self.gaps(try await recorder.all()) == [lost])
    await recorder.close()
  }

  /// The file that failed is gone, so it is not known how many entries it held beyond the copy.
  @Test func `an older copy in place of a file that failed makes a gap of unknown size`()
    async throws
  {
    let folder = try Folder()
    let clock = HandClock()
    let recorder = FileRecorder.begin(folder, clock: clock)
    recorder.record([Sample.entry(1)])
    _ = try await recorder.all()
    let copy = folder.file + ".copy"
    try FileManager.default.copyItem(atPath: folder.file, toPath: copy)
    recorder.record([Sample.entry(2)])
    _ = try await recorder.all()
    try FileManager.default.removeItem(atPath: folder.file)
    try folder.blockFile()
    recorder.record([Sample.entry(3)])
    await #expect(throws: TraceError.self) { try await recorder.all() }
    try FileManager.default.removeItem(atPath: folder.file)
    try FileManager.default.moveItem(atPath: copy, toPath: folder.file)
    clock.advance(FileRecorder.testRetryAfter)
    let all = try await recorder.all()
    #expect(Self.changes(all) == [1] && Self.gaps(all) == [nil])
    await recorder.close()
  }

  /// How much the killed life lost is not known, so a number would be wrong.
  @Test func `a drop behind a life that was killed makes a gap of unknown size`() async throws {
    let folder = try Folder()
    let killed = FileRecorder.begin(folder)
    killed.record([Sample.entry(1)])
    _ = try await killed.all()
    let aside = folder.file + ".aside"
    try FileManager.default.moveItem(atPath: folder.file, toPath: aside)
    try folder.blockFile()
    let clock = HandClock()
    let next = FileRecorder.begin(folder, clock: clock)
    next.record([Sample.entry(2), Sample.entry(3)])
    await #expect(throws: TraceError.self) { try await next.all() }
    try FileManager.default.removeItem(atPath: folder.file)
    try FileManager.default.moveItem(atPath: aside, toPath: folder.file)
    clock.advance(FileRecorder.testRetryAfter)
    let all = try await next.all()
    #expect(Self.changes(all) == [1] && Self.gaps(all) == [nil])
    await next.close()
  }

  /// Only the match of a user with thousands of devices is larger than a block. By default
  /// `limits.devicesPerUser` allows 100 devices.
  @Test func `an entry that no block holds is left out alone`() async throws {
    func match(_ devices: Int) -> TraceEntry {
      let all = (0..<UInt64(devices)).map {
        TracedMatch.Device(client: ClientID(Identifier(high: 1, low: $0)), outcome: .own)
      }
      return Sample.entry(
        7,
        .matched(
          TracedMatch(
            notification: Sample.nid(7), user: Sample.user, subscription: SubscriptionID("s"),
            database: .private, zone: Sample.zone, position: .zero, zonePosition: .zero,
            devices: all)))
    }
    func bytes(_ devices: Int) -> Int {
      TraceFrame.batchHeadBytesMax
        + TraceBatch.of([match(devices)]).reduce(0) { $0 + $1.size }
    }
    // Each device takes the same number of bytes.
    let most = 2_000 + (RingLayout.payloadMax - bytes(2_000)) / (bytes(2_000) - bytes(1_999))
    #expect(bytes(most) <= RingLayout.payloadMax && bytes(most + 1) > RingLayout.payloadMax)
    for extra in [-1, 0, 1] {
      let folder = try Folder()
      let recorder = FileRecorder.begin(folder)
      let before = (1...100).map { Sample.entry($0) }
      let after = (101...200).map { Sample.entry($0) }
      recorder.record(before + [match(most + extra)] + after)
      let all = try await recorder.all()
      #expect(Self.changes(all) == Array(1...200))
      #expect(Self.gaps(all) == (extra == 1 ? [1] : []))
      #expect(recorder.health.lost == (extra == 1 ? 1 : 0))
      #expect(all.contains(match(most + extra)) == (extra < 1))
      await recorder.close()
    }
  }

  // MARK: Lives and damage

  @Test(arguments: [true, false])
  func `a life goes on in the block of the life before`(isClosed: Bool) async throws {
    let folder = try Folder()
    var killed: [FileRecorder] = []
    for number in 1...40 {
      let recorder = FileRecorder.begin(folder)
      recorder.record([Sample.entry(UInt64(number))])
      _ = try await recorder.all()
      if isClosed { await recorder.close() } else { killed.append(recorder) }
    }
    let last = FileRecorder.begin(folder)
    let all = try await last.all()
    #expect(Self.changes(all) == Array(1...40))
    #expect(Self.gaps(all).count == killed.count)
    await last.close()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file))
    let second = bytes[RingLayout.offset(ofBlock: 1)...].prefix(RingLayout.blockHeadBytes)
    #expect(second.allSatisfy { $0 == 0 })
  }

  /// Without the newest entries a change would seem to wait, so their loss must be shown.
  @Test func `a damaged frame at the end of what was recorded is a gap`() async throws {
    let folder = try Folder()
    let recorder = FileRecorder.begin(folder)
    for group in 0..<3 {
      recorder.record((1...10).map { Sample.entry(UInt64(group * 10 + $0)) })
      _ = try await recorder.all()
    }
    try Self.damage(folder, "r25")
    let all = try await recorder.all()
    #expect(Self.changes(all) == Array(1...20) && Self.gaps(all) == [nil])
    #expect(all.last?.event == .lost(nil))
    await recorder.close()
  }

  /// A good frame follows the damaged one. When another frame has taken the damaged frame's place,
  /// a reader must not find the good frame again.
  @Test func `what stood behind a damaged frame does not come back`() async throws {
    let folder = try Folder()
    let first = FileRecorder.begin(folder)
    for group in 0..<3 {
      first.record((1...10).map { Sample.entry(UInt64(group * 10 + $0)) })
      _ = try await first.all()
    }
    await first.close()
    try Self.damage(folder, "r15")
    for life in 1...2 {
      let next = FileRecorder.begin(folder)
      next.record((1...10).map { Sample.entry(UInt64(life * 100 + $0)) })
      let all = try await next.all()
      let own = (1...life).flatMap { life in (1...10).map { UInt64(life * 100 + $0) } }
      #expect(Self.changes(all) == Array(1...10) + own && Self.gaps(all) == [nil])
      await next.close()
    }
  }

  @Test func `a damaged frame in the middle of the history is a gap`() async throws {
    let folder = try Folder()
    let first = FileRecorder.begin(folder)
    first.record((1...3_000).map { Sample.entry($0) })
    await first.close()
    try Self.damage(folder, "r150")
    let second = FileRecorder.begin(folder)
    let all = try await second.all()
    let numbers = Self.changes(all)
    #expect(!numbers.contains(150) && numbers.last == 3_000 && numbers.count > 1_000)
    #expect(Self.gaps(all) == [nil])
    await second.close()
  }

  private static func damage(_ folder: Folder, _ text: String) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file))
    let place = try #require(bytes.range(of: Data(text.utf8)))
    bytes[place.lowerBound + 1] = UInt8(ascii: "x")
    try bytes.write(to: URL(fileURLWithPath: folder.file))
  }
}

import Dispatch
import Foundation
import Logging
import RelayCore
import RelayEngine
import Testing

@testable import RelayTrace

/// The recorder's file: its size, how it is written round and round, and what damage leaves of it.
@Suite struct FileRecorderTests {
  private static func changes(_ entries: [TraceEntry]) -> [UInt64] {
    entries.compactMap {
      if case .change(let change) = $0.event { change.notification.low } else { nil }
    }
  }

  @Test func `the file has its size from the start, and belongs to the daemon alone`() async throws
  {
    let folder = try Folder()
    let recorder = FileRecorder.begin(folder)
    recorder.record([Sample.entry(1)])
    _ = try await recorder.all()
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.file)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let size = try #require(attributes[.size] as? Int)
    #expect(size <= 1 << 20 && size > 900_000)
    await recorder.close()
    let after = try FileManager.default.attributesOfItem(atPath: folder.file)
    #expect(after[.size] as? Int == size)
  }

  /// A megabyte holds about ten thousand entries.
  @Test func `the newest entries are kept, and the oldest give way without a gap`() async throws {
    let folder = try Folder()
    let recorder = FileRecorder.begin(folder)
    for group in 0..<100 {
      recorder.record((0..<1_000).map { Sample.entry(UInt64(group * 1_000 + $0)) })
      // Before a read the recorder writes all waiting entries, so it drops none.
      if group.isMultiple(of: 10) { _ = try await recorder.all(through: 0) }
    }
    let all = try await recorder.all()
    let numbers = Self.changes(all)
    #expect(numbers.last == 99_999 && numbers.count > 5_000 && numbers.count < 60_000)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 })
    #expect(!all.contains { if case .lost = $0.event { true } else { false } })
    await recorder.close()
  }

  @Test func `many entries are written without a further wait`() async throws {
    let folder = try Folder()
    let recorder = FileRecorder.begin(folder)
    let most = FileRecorder.waitingMax / 4
    // The recorder writes once when it begins.
    recorder.queue.sync {}
    // From now on the recorder lets a first entry wait for more entries before it writes. When many
    // entries wait, the recorder writes at once.
    for round in 1...3 {
      recorder.record([Sample.entry(1)])
      recorder.record((2...UInt64(most) + 1).map { Sample.entry($0) })
      recorder.queue.sync {}
      #expect(recorder.waitingCount == 0, "round \(round)")
    }
    await recorder.close()
  }

  @Test func `a process that was killed leaves what it had written`() async throws {
    let folder = try Folder()
    let first = FileRecorder.begin(folder)
    first.record((1...100).map { Sample.entry($0) })
    _ = try await first.all()
    // The first recorder is never closed, as after a kill.
    let second = FileRecorder.begin(folder)
    second.record([Sample.entry(101)])
    let all = try await second.all()
    #expect(Self.changes(all) == Array(1...101))
    #expect(all[101].event == .lost(nil) && all[102].event == .began)
    await second.close()
  }

  @Test func `a torn frame is left out, and what came before it is kept`() async throws {
    let folder = try Folder()
    let first = FileRecorder.begin(folder)
    first.record((1...10).map { Sample.entry($0) })
    _ = try await first.all()
    first.record((11...20).map { Sample.entry($0) })
    _ = try await first.all()
    await first.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file))
    // The record of entry 15 is named r15, in the frame that holds the entries 11 to 20.
    let place = try #require(bytes.range(of: Data("r15".utf8)))
    bytes[place.lowerBound + 1] = UInt8(ascii: "x")
    try bytes.write(to: URL(fileURLWithPath: folder.file))
    let second = FileRecorder.begin(folder)
    let all = try await second.all()
    #expect(Self.changes(all) == Array(1...10))
    #expect(all.last?.event == .began && all.dropLast().last?.event == .lost(nil))
    await second.close()
  }

  /// A number near the end of the range would overflow with the next block.
  @Test func `a block with an impossible number is no block`() async throws {
    let folder = try Folder()
    let first = FileRecorder.begin(folder)
    first.record([Sample.entry(1)])
    await first.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file))
    let place = RingLayout.offset(ofBlock: 3)
    bytes.replaceSubrange(
      place..<place + RingLayout.blockHeadBytes, with: RingLayout.blockHead(.max))
    try bytes.write(to: URL(fileURLWithPath: folder.file))
    let second = FileRecorder.begin(folder)
    second.record([Sample.entry(2)])
    #expect(Self.changes(try await second.all()) == [1, 2])
    await second.close()
  }

  @Test func `a file of another size or a damaged one begins anew`() async throws {
    for damage in ["size", "head", "short", "blocks"] {
      let folder = try Folder()
      let first = FileRecorder.begin(folder)
      first.record([Sample.entry(1)])
      await first.close()
      var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file))
      if damage == "head" { bytes[3] ^= 1 }
      if damage == "short" { bytes.removeLast(70_000) }
      if damage == "blocks" { bytes[RingLayout.offset(ofBlock: 0) + 1] ^= 1 }
      try bytes.write(to: URL(fileURLWithPath: folder.file))
      let second = FileRecorder.begin(folder, bytes: damage == "size" ? 2 << 20 : 1 << 20)
      second.record([Sample.entry(2)])
      #expect(Self.changes(try await second.all()) == [2], "\(damage)")
      #expect(second.health.trouble == nil)
      await second.close()
    }
  }

  @Test(
    arguments: [
      ([0, 1], .anew("all its blocks are damaged")), ([0], .kept(ended: nil)),
      ([1], .kept(ended: nil)),
    ] as [([Int], RingFile.Beginning)])
  func `a file begins anew, and says so, if all its blocks are damaged`(
    damaged: [Int], beginning: RingFile.Beginning
  ) async throws {
    let folder = try Folder()
    let first = FileRecorder.begin(folder)
    for number in 1...2_000 { first.record([Sample.entry(UInt64(number))]) }
    await first.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file))
    for block in damaged {
      let place = RingLayout.offset(ofBlock: block)
      // One block is zeroes, another one has a wrong bit.
      if block == 0 {
        bytes.replaceSubrange(
          place..<place + RingLayout.blockBytes, with: Data(count: RingLayout.blockBytes))
      } else {
        bytes[place + 1] ^= 1
      }
    }
    // The blocks behind the first two are as in a new file.
    bytes.replaceSubrange(
      RingLayout.offset(ofBlock: 2)...,
      with: Data(count: bytes.count - RingLayout.offset(ofBlock: 2)))
    try bytes.write(to: URL(fileURLWithPath: folder.file))
    let file = try RingFile(folder.file, bytes: 1 << 20)
    #expect(file.beginning == beginning)
    if damaged.count == 2 {
      let again = try RingFile(folder.file, bytes: 1 << 20)
      #expect(again.beginning == .new)
    }
  }

  @Test(arguments: [false, true])
  func `a file that was made and never written has lost nothing`(isHeadless: Bool) throws {
    let folder = try Folder()
    _ = try RingFile(folder.file, bytes: 1 << 20)
    if isHeadless {
      let size = RingLayout.offset(ofBlock: RingLayout.blocks(in: 1 << 20))
      try Data(count: size).write(to: URL(fileURLWithPath: folder.file))
    }
    let again = try RingFile(folder.file, bytes: 1 << 20)
    #expect(again.beginning == .new)
  }

  /// The entries of the old file are gone before the system refuses the room for the new one.
  @Test func `why a file was given up is told, also if the new one cannot be made`()
    async throws
  {
    let folder = try Folder()
    let first = FileRecorder.begin(folder)
    first.record([Sample.entry(1)])
    await first.close()
    let failure = #expect(throws: RingFile.Failure.self) {
      _ = try RingFile(folder.file, bytes: 1 << 60)
    }
    #expect(failure?.givenUp == "it has another size, or another version wrote it")
    let empty = try RingFile(folder.file, bytes: 1 << 20)
    #expect(empty.beginning == .new)
  }

  @Test func `the least size works, and a recorder that is off leaves no file`() async throws {
    for blocks in [1, 2, 15] {
      let folder = try Folder()
      let bytes = RingLayout.offset(ofBlock: blocks)
      let recorder = FileRecorder.begin(folder, bytes: bytes)
      for number in 1...2_000 { recorder.record([Sample.entry(UInt64(number))]) }
      let numbers = Self.changes(try await recorder.all())
      #expect(numbers.last == 2_000 && numbers.count > 100)
      await recorder.close()
      #expect(FileRecorder.remove(from: folder.path))
      #expect(!FileRecorder.remove(from: folder.path))
    }
  }

  @Test func `a directory that cannot be written is told, and tried again`() async throws {
    let folder = try Folder()
    let clock = HandClock()
    try FileManager.default.createDirectory(
      atPath: folder.file, withIntermediateDirectories: false)
    let recorder = FileRecorder.begin(folder, clock: clock)
    recorder.record([Sample.entry(1)])
    await #expect(throws: TraceError.self) { try await recorder.all() }
    #expect(recorder.health.trouble?.contains("the trace is not being written") == true)
    #expect(recorder.health.lost == 1)
    try FileManager.default.removeItem(atPath: folder.file)
    clock.advance(FileRecorder.testRetryAfter)
    recorder.record([Sample.entry(2)])
    let all = try await recorder.all()
    #expect(Self.changes(all) == [2] && recorder.health.trouble == nil)
    #expect(all.contains { $0.event == .lost(1) })
    await recorder.close()
  }

  /// Fixed limit: entries that wait to be recorded
  @Test func `a batch that does not fit into the queue is dropped, and the drop is recorded`()
    async throws
  {
    for extra in [-1, 0, 1] {
      let folder = try Folder()
      let recorder = FileRecorder.begin(folder)
      _ = try await recorder.all()
      let many = (0..<UInt64(FileRecorder.waitingMax + extra)).map { Sample.entry($0) }
      let last = TraceBatch.of(many).last?.count ?? 0
      recorder.recordAtOnce(many)
      #expect(recorder.health.lost == (extra == 1 ? UInt64(last) : 0))
      recorder.record([TraceBatch]())
      _ = try await recorder.all()
      recorder.record([Sample.entry(100_000)])
      let all = try await recorder.all()
      #expect(all.last?.event == Sample.entry(100_000).event)
      #expect(all.contains { $0.event == .lost(last) } == (extra == 1))
      await recorder.close()
    }
  }

  /// Fixed limit: explanations at one moment
  @Test func `readers beyond the bound are refused, and the writer goes on meanwhile`() async throws
  {
    let most = FileRecorder.readersMax
    for count in [most - 1, most, most + 1] {
      let folder = try Folder()
      let recorder = FileRecorder.begin(folder)
      recorder.record((0..<5_000).map { Sample.entry($0) })
      let gate = DispatchSemaphore(value: 0)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 1...min(count, most) {
          group.addTask {
            try await recorder.read(through: recorder.place) { _ in
              gate.wait()
              gate.signal()
              return false
            }
          }
          while recorder.readerCount < number { await Task.yield() }
        }
        recorder.record([Sample.entry(9_999)])
        if count > most {
          await #expect(throws: TraceError.self) { try await recorder.all() }
        }
        gate.signal()
        try await group.waitForAll()
      }
      #expect(Self.changes(try await recorder.all()).last == 9_999)
      await recorder.close()
    }
  }
}

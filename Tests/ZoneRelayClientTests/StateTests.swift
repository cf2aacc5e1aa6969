import Foundation
import Testing
import ZoneRelayTesting
@testable import ZoneRelayClient

@Suite struct StateTests {
  private static func file() throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("zonerelay-state-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder.appendingPathComponent("state.json")
  }

  @Test func `a state is the same after it was stored`() throws {
    var state = ClientState()
    state.change(to: "_alice")
    state.read(.private, to: "p", naming: [])
    state.read(Rig.notes, to: "n")
    state.read(Rig.shared, to: "s")
    state.want(.zone(Rig.notes))
    state.notifications = "t"
    let json = #"{"ck":{"ckuserid":"_alice"},"zr":{"w":7,"q":1,"nb":9,"z":[["A","_b",3,1]]}}"#
    let wake = try #require(Wake(json: Data(json.utf8)))
    let isNoted = state.note(wake, at: Date(timeIntervalSince1970: 0))
    #expect(isNoted)
    #expect(state.waitsUntil == Date(timeIntervalSince1970: 9))
    #expect(try ClientState(stored: state.stored) == state)
  }

  /// An earlier version stored whether the next round fetches zones that must wait.
  @Test func `a state with a member that is no more is read`() throws {
    var state = ClientState()
    state.want(.everything)
    let member = #""notifications":true"#
    let text = String(decoding: try state.stored, as: UTF8.self)
      .replacing(member, with: member + #","passesWaits":true"#)
    #expect(text.contains("passesWaits"))
    #expect(try ClientState(stored: Data(text.utf8)) == state)
  }

  @Test func `a file keeps the newest state for its owner alone`() throws {
    let url = try Self.file()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let file = StateFile(url)
    #expect(try file.load() == nil)
    try file.save(Data("one".utf8))
    try file.save(Data("two".utf8))
    #expect(try file.load() == Data("two".utf8))
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    #expect((attributes[.posixPermissions] as? Int) == 0o600)
    let left = try FileManager.default.contentsOfDirectory(
      atPath: url.deletingLastPathComponent().path)
    #expect(left == ["state.json"])
  }

  /// A crash in the middle of a save leaves a draft. In an earlier version the draft had a fixed
  /// name.
  @Test func `drafts of interrupted saves change nothing, and the next client removes them`() throws
  {
    let url = try Self.file()
    let folder = url.deletingLastPathComponent()
    defer { try? FileManager.default.removeItem(at: folder) }
    try StateFile(url).save(Data("whole".utf8))
    let others = [
      "state", "state.json.bak", "state.json.notes.draft", "state.json.other.\(UUID()).draft",
    ]
    for name in ["state.json.draft", "state.json.\(UUID()).draft"] + others {
      try Data("ha".utf8).write(to: folder.appendingPathComponent(name))
    }
    #expect(try StateFile(url).load() == Data("whole".utf8))
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(left.sorted() == (others + ["state.json"]).sorted())
  }

  @Test func `of two clients that save at the same moment one is kept whole`() throws {
    let url = try Self.file()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let second = StateFile(url)
    // The second client saves when the first one's draft is written, and not yet renamed.
    let first = StateFile(
      url,
      sync: { _ in
        guard !FileManager.default.fileExists(atPath: url.path) else { return 0 }
        do { try second.save(Data("the second one".utf8)) } catch { return -1 }
        return 0
      })
    try first.save(Data("one".utf8))
    #expect(try Data(contentsOf: url) == Data("one".utf8))
    let error = #expect(throws: RelayError.self) { try second.save(Data("two".utf8)) }
    #expect(error?.message.hasPrefix("another client has saved \(url.path)") == true)
    try first.save(Data("three".utf8))
  }

  @Test func `a save fails if another client was made in the middle of it`() throws {
    let url = try Self.file()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    try StateFile(url).save(Data("old".utf8))
    let file = StateFile(
      url,
      sync: { _ in
        do { return try StateFile(url).load() == Data("old".utf8) ? 0 : -1 } catch { return -1 }
      })
    let error = #expect(throws: RelayError.self) { try file.save(Data("new".utf8)) }
    #expect(error?.code == .badState)
    #expect(error?.message.hasPrefix("another client has saved \(url.path)") == true)
    #expect(try Data(contentsOf: url) == Data("old".utf8))
  }

  @Test func `a round without news stores nothing`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    try await rig.client.fetchAllChanges()
    let saves = rig.store.saves
    try await rig.client.fetchAllChanges()
    #expect(rig.store.saves == saves)
  }

  /// A state of very many zones on a slow disk: each save takes a second of the clock.
  @Test func `storing takes a tenth of a round's time at most, and what is new is stored first`()
    async throws
  {
    let rig = try Rig()
    for number in 0..<1_000 {
      await rig.relay.save(TestRecord("a"), in: ZoneID(name: "zone \(number)", owner: "_alice"))
    }
    let slow = SlowStore(rig.store, rig.clock)
    let client = try ZoneRelayClient(
      rig.relay.address, state: slow, sink: rig.sink, transport: rig.relay, clock: rig.clock,
      credentials: { try await rig.account.token($0) })
    try await client.fetchAllChanges()
    // The client saves at the user's first sign-in, after five pages of zones that were not known
    // before, and at the end.
    #expect(rig.store.saves <= 10)
    #expect(try await rig.restarted().fetchAllChanges().records == 0)
  }

  /// After a save, a crash of the machine takes away neither the bytes nor the file's name.
  @Test func `a save is durable: the bytes before the rename, and the directory after it`() throws {
    let url = try Self.file()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let synced = Synced(url)
    try StateFile(url, sync: synced.note).save(Data("one".utf8))
    #expect(synced.steps == ["draft of 3 bytes, not renamed", "directory, renamed"])
    for failing in 0...1 {
      let refusing = Synced(url, failing: failing)
      let error = #expect(throws: RelayError.self) {
        try StateFile(url, sync: refusing.note).save(Data("two".utf8))
      }
      #expect(error?.code == .badState)
      #expect(error?.message.contains("sync") == true)
    }
    let left = try FileManager.default.contentsOfDirectory(
      atPath: url.deletingLastPathComponent().path)
    #expect(left == ["state.json"], "a draft that failed takes no room")
  }

  @Test func `a second client on one file is found at the first client's next save`() async throws {
    let url = try Self.file()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let relay = InMemoryRelay()
    let account = Account(relay)
    func client() throws -> ZoneRelayClient {
      try ZoneRelayClient(
        relay.address, state: .file(url), sink: InMemoryCopy(), transport: relay,
        credentials: { try await account.token($0) })
    }
    let first = try client()
    try await first.fetchAllChanges()
    let second = try client()
    await relay.save(TestRecord("a"), in: Rig.notes)
    try await second.fetchAllChanges()
    let error = await #expect(throws: RelayError.self) { try await first.fetchAllChanges() }
    #expect(error?.code == .badState)
    #expect(error?.message.contains("another client has saved \(url.path)") == true)
    await relay.save(TestRecord("b"), in: Rig.notes)
    #expect(try await second.fetchAllChanges().records == 1, "the second one goes on")
    #expect(try await client().fetchAllChanges().records == 0, "as after a restart")
  }

  @Test func `a save without a directory says why it failed`() {
    let file = StateFile(URL(fileURLWithPath: "/nonexistent/state.json"))
    let error = #expect(throws: RelayError.self) { try file.save(Data()) }
    #expect(error?.code == .badState)
    #expect(error?.message.contains("/nonexistent/state.json") == true)
  }

  @Test(arguments: ["", "{}", "garbage", #"{"form":2}"#])
  func `bytes that are no state are refused, and stay`(text: String) throws {
    let store = MemoryStore()
    try store.save(Data(text.utf8))
    let rig = try Rig()
    let error = #expect(throws: RelayError.self) {
      _ = try ZoneRelayClient(
        rig.relay.address, state: store, sink: rig.sink, transport: rig.relay,
        credentials: { _ in
          nil
        })
    }
    #expect(error?.code == .badState)
    #expect(try store.load() == Data(text.utf8))
  }

  @Test func `a state of a newer form is refused`() throws {
    let stored = try ClientState().stored
    let text = String(decoding: stored, as: UTF8.self).replacing("\"form\":1", with: "\"form\":2")
    let error = #expect(throws: RelayError.self) { try ClientState(stored: Data(text.utf8)) }
    #expect(error?.message.contains("form 2") == true)
  }
}

/// A store each of whose saves takes a second.
private struct SlowStore: StateStore {
  private let store: MemoryStore
  private let clock: ManualClock

  init(_ store: MemoryStore, _ clock: ManualClock) { (self.store, self.clock) = (store, clock) }

  func load() throws -> Data? { try store.load() }

  func save(_ state: Data) throws {
    clock.pass(.seconds(1))
    try store.save(state)
  }
}

/// Notes each sync of a state file, and fails one of them.
private final class Synced: Sendable {
  private let url: URL
  private let failing: Int?
  private let lock = NSLock()
  // Every access holds the lock.
  nonisolated(unsafe) private var noted: [String] = []

  init(_ url: URL, failing: Int? = nil) { (self.url, self.failing) = (url, failing) }

  var steps: [String] { lock.withLock { noted } }

  var note: @Sendable (Int32) -> Int32 {
    { [self] descriptor in
      var found = stat()
      fstat(descriptor, &found)
      let isDirectory = found.st_mode & S_IFMT == S_IFDIR
      let isRenamed = FileManager.default.fileExists(atPath: url.path)
      return lock.withLock {
        noted.append(
          (isDirectory ? "directory" : "draft of \(found.st_size) bytes")
            + (isRenamed ? ", renamed" : ", not renamed"))
        return noted.count - 1 == failing ? -1 : 0
      }
    }
  }
}

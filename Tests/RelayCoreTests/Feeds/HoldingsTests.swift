import Testing

@testable import RelayCore

/// Whether a feed that is nearly full has room for the subjects of one request.
@Suite struct HoldingsTests {
  @Test func `a full feed has room only for subjects that it holds`() {
    var room = Holdings(present: 2, held: [.record("a")], max: 3)
    #expect(room.hasRoom(for: .record("b")))
    room.add(.record("a"))
    room.add(.record("b"))
    #expect(room.present == 3)
    #expect(!room.hasRoom(for: .record("c")))
    #expect(room.hasRoom(for: .record("a")) && room.hasRoom(for: .record("b")))
  }

  @Test func `a removal makes room only if the feed held the subject`() {
    var room = Holdings(present: 3, held: [.record("a")], max: 3)
    room.remove(.record("b"))
    #expect(room.present == 3 && !room.hasRoom(for: .record("c")))
    room.remove(.record("a"))
    #expect(room.present == 2 && room.hasRoom(for: .record("c")))
    room.remove(.record("a"))
    #expect(room.present == 2)
    room.removeAll()
    #expect(room.present == 0 && room.held.isEmpty)
  }
}

import Testing

@testable import RelayCore

@Suite struct MessagesTests {
  private let id = PartitionID(3)
  private let other = PartitionID(4)
  private let interests = Forwarded.Message.interests([])

  @Test func `messages of one step are numbered in their order`() {
    var messages = Messages(loading: PartitionTables(id: id))
    for _ in 0..<3 { messages.post(interests, to: other, at: Ordinal(7)) }
    messages.post(interests, to: other, at: Ordinal(8))
    #expect(messages.sent.map(\.key.serial.indexOnTrack) == [0, 1, 2, 0])
    #expect(messages.sent.map(\.key.serial.ordinal.number) == [7, 7, 7, 8])
    var cut = PartitionCut(id: id, cursor: Ordinal(8))
    messages.drain(into: &cut)
    #expect(cut.outbox.count == 4)
    #expect(messages.sent.isEmpty)
    #expect(!messages.isDirty)
  }

  @Test func `a partition takes each message of a track once`() {
    var messages = Messages(loading: PartitionTables(id: id))
    let serials = (UInt64(1)...2).map { Track.common.serial(Ordinal($0), index: 0) }
    let taken = [
      messages.hear(serials[0], from: other),
      messages.hear(serials[1], from: other),
      messages.hear(serials[1], from: other),
      messages.hear(serials[0], from: other),
      messages.hear(serials[0], from: PartitionID(5)),
    ]
    #expect(taken == [true, true, false, false, true])
    var cut = PartitionCut(id: id, cursor: Ordinal(2))
    messages.drain(into: &cut)
    #expect(cut.heard.map(\.serial) == [serials[1], serials[0]])
  }

  @Test func `messages wait behind a message of the partition to itself`() {
    var messages = Messages(loading: PartitionTables(id: id))
    #expect(!messages.areWaitingForSelf(on: .common))
    messages.post(interests, to: id, at: Ordinal(1))
    #expect(messages.areWaitingForSelf(on: .common))
    // After a restart the partition still waits for the message that it sent to itself.
    var tables = PartitionTables(id: id)
    tables.outbox = messages.sent
    #expect(Messages(loading: tables).areWaitingForSelf(on: .common))
    let taken = [
      messages.hear(messages.sent[0].key.serial, from: id)
    ]
    #expect(taken == [true])
    #expect(!messages.areWaitingForSelf(on: .common))
  }

  @Test func `a drain writes only what has changed`() {
    var messages = Messages(loading: PartitionTables(id: id))
    messages.post(interests, to: other, at: Ordinal(1))
    let key = messages.sent[0].key
    var cut = PartitionCut(id: id, cursor: Ordinal(1))
    messages.drain(into: &cut)
    messages.delivered(key)
    #expect(messages.isDirty)
    cut = PartitionCut(id: id, cursor: Ordinal(1))
    messages.drain(into: &cut)
    #expect(cut.outbox.isEmpty)
    #expect(cut.delivered == [key])
    #expect(cut.heard.isEmpty)
  }
}

import Testing

@testable import RelayCore

/// The messages of one track leave in the order in which their source sent them. A message that may
/// be a wide change in its target leaves only while the target has room for one more fan-out.
@Suite struct ForwardingTests {
  private let target = PartitionID(9)

  private func row(_ source: Int, _ serial: UInt64, _ event: Change.Event) -> OutboxRow {
    let change = Change(
      scope: Sample.scope, database: .private, zone: Sample.zone, event: event, time: .zero,
      notification: Sample.nid(1), fingerprint: 1)
    return OutboxRow(
      source: PartitionID(source),
      key: OutboxRow.Key(target: target, serial: Sample.position(serial)),
      message: .change(change, at: Sample.position(serial)))
  }

  private func numbers(_ rows: [OutboxRow]) -> [UInt64] { rows.map(\.key.serial.ordinal.number) }

  private func take(_ forwarding: inout Forwarding, room: Int) -> [UInt64] {
    numbers(forwarding.take(room: { _ in room }, isWide: { _ in true }))
  }

  /// A batch goes out as far as the target has room. Messages under way take room too.
  @Test func `messages that may fan out leave only while the target has room for fan-outs`() {
    var forwarding = Forwarding()
    forwarding.add((1...5).map { row(1, $0, .record(.created)) })
    #expect(take(&forwarding, room: 2) == [1, 2])
    #expect(take(&forwarding, room: 2).isEmpty)
    forwarding.delivered(row(1, 1, .record(.created)).key, from: PartitionID(1))
    #expect(take(&forwarding, room: 2) == [3])
    #expect(!forwarding.isEmpty)
  }

  /// A recovery reads the outbox in any order.
  @Test func `messages leave in the order in which their source sent them`() {
    var forwarding = Forwarding()
    forwarding.add([3, 1, 2].map { row(1, $0, .record(.created)) })
    #expect(take(&forwarding, room: 9) == [1, 2, 3])
  }

  /// A message that needs no room goes at once, unless it would overtake a message on its own
  /// track.
  @Test func `a message without fan-out does not wait for other sources`() {
    var forwarding = Forwarding()
    forwarding.add([
      row(1, 1, .record(.created)), row(1, 2, .revoked(UserID("_p"))),
      row(2, 3, .revoked(UserID("_p"))), row(3, 4, .zone(.deleted)),
    ])
    #expect(take(&forwarding, room: 0) == [3, 4])
    #expect(take(&forwarding, room: 1) == [1, 2])
    #expect(forwarding.isEmpty)
  }

  /// A public change for a million users does not delay a shared zone's change for two users.
  @Test func `a message for few users needs no room`() {
    var forwarding = Forwarding()
    forwarding.add([
      row(1, 1, .record(.created)), row(1, 2, .record(.created)), row(2, 3, .record(.created)),
    ])
    var asked: [UInt64] = []
    func taken() -> [UInt64] {
      numbers(
        forwarding.take(
          room: { _ in 0 },
          isWide: { row in
            asked.append(row.key.serial.ordinal.number)
            return row.source == PartitionID(1)
          }))
    }
    #expect(taken() == [3])
    // A message that waits is not checked again.
    #expect(taken().isEmpty)
    #expect(asked == [1, 3])
    #expect(take(&forwarding, room: 2) == [1, 2])
  }

  /// A row of the outbox on the track that belongs to its message.
  private func tracked(_ source: Int, _ serial: UInt64, _ event: Change.Event, _ zone: String)
    -> OutboxRow
  {
    var row = row(source, serial, event)
    guard case .change(var change, let place) = row.message else { return row }
    change.zone = ZoneID(name: zone, owner: Sample.owner)
    row.message = .change(change, at: place)
    row.key.serial = Track(of: row.message).serial(Ordinal(serial), index: 0)
    return row
  }

  /// Earlier, a thousand changes of one zone with ten thousand participants waited for room, and
  /// changes and revocations of the owner's other zones waited behind them for minutes.
  @Test func `a hot zone delays only its own messages`() {
    var forwarding = Forwarding()
    forwarding.add([
      tracked(1, 1, .record(.created), "hot"), tracked(1, 2, .record(.created), "hot"),
      tracked(1, 3, .revoked(UserID("_p")), "hot"), tracked(1, 4, .record(.created), "few"),
      tracked(1, 5, .revoked(UserID("_p")), "few"),
    ])
    func isHot(_ row: OutboxRow) -> Bool {
      guard case .change(let change, _) = row.message else { return false }
      return change.zone.name == "hot"
    }
    #expect(numbers(forwarding.take(room: { _ in 0 }, isWide: isHot)) == [4, 5])
    #expect(numbers(forwarding.take(room: { _ in 1 }, isWide: isHot)) == [1])
    forwarding.delivered(tracked(1, 1, .record(.created), "hot").key, from: PartitionID(1))
    #expect(numbers(forwarding.take(room: { _ in 1 }, isWide: isHot)) == [2, 3])
    #expect(forwarding.isEmpty)
  }

  /// Earlier, the lowest source got all the room for as long as it had messages.
  @Test func `hot zones take turns for the room`() {
    var forwarding = Forwarding()
    forwarding.add((1...4).map { tracked(1, $0, .record(.created), "hot") })
    forwarding.add((11...12).map { tracked(2, $0, .record(.created), "hot") })
    forwarding.add((21...22).map { tracked(1, $0, .record(.created), "warm") })
    var order: [UInt64] = []
    while !forwarding.isEmpty {
      let rows = forwarding.take(room: { _ in 1 }, isWide: { _ in true })
      order += numbers(rows)
      for row in rows { forwarding.delivered(row.key, from: row.source) }
    }
    #expect(Set(order.prefix(3)) == [1, 11, 21] && Set(order.prefix(6)) == [1, 2, 11, 12, 21, 22])
    #expect(order.suffix(2) == [3, 4])
  }

  /// Only a queue's first message is known to be wide. When the first has left, the next is checked
  /// anew.
  @Test func `a message for few users does not wait after a wide one has left`() {
    var forwarding = Forwarding()
    forwarding.add([row(1, 1, .record(.created)), row(1, 2, .record(.created))])
    func take(room: Int) -> [UInt64] {
      numbers(
        forwarding.take(room: { _ in room }, isWide: { $0.key.serial == Sample.position(1) }))
    }
    #expect(take(room: 0).isEmpty)
    #expect(take(room: 1) == [1, 2])
  }

  /// The delivery of a message that took no room frees no room.
  @Test func `a message that took no room frees none at its delivery`() {
    var forwarding = Forwarding()
    forwarding.add([row(1, 1, .record(.created)), row(2, 2, .record(.created))])
    let few = forwarding.take(room: { _ in 1 }, isWide: { _ in false })
    #expect(numbers(few) == [1, 2])
    forwarding.add([row(3, 3, .record(.created))])
    forwarding.delivered(few[1].key, from: few[1].source)
    #expect(take(&forwarding, room: 1).isEmpty)
    forwarding.delivered(few[0].key, from: few[0].source)
    #expect(take(&forwarding, room: 1) == [3])
  }
}

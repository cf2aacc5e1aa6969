import Testing

@testable import RelayCore

/// Messages between partitions: in order of their source, and no more than there is room for.
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

  /// A whole batch is handed out as far as there is room, also while what went is under way.
  @Test func noMoreFanOutsGoThanTheTargetHasRoomFor() {
    var forwarding = Forwarding()
    forwarding.add((1...5).map { row(1, $0, .record(.created)) })
    #expect(numbers(forwarding.take { _ in 2 }) == [1, 2])
    #expect(forwarding.take { _ in 2 }.isEmpty)
    forwarding.delivered(row(1, 1, .record(.created)).message, to: target)
    #expect(numbers(forwarding.take { _ in 2 }) == [3])
    #expect(!forwarding.isEmpty)
  }

  /// What needs no room goes, unless it would overtake a message of its own source.
  @Test func aMessageWithoutFanOutWaitsForNoOtherSource() {
    var forwarding = Forwarding()
    forwarding.add([
      row(1, 1, .record(.created)), row(1, 2, .revoked(UserID("_p"))),
      row(2, 3, .revoked(UserID("_p"))), row(3, 4, .zone(.deleted)),
    ])
    #expect(numbers(forwarding.take { _ in 0 }) == [3, 4])
    #expect(numbers(forwarding.take { _ in 1 }) == [1, 2])
    #expect(forwarding.isEmpty)
  }
}

import OrderedCollections

extension Partition {
  /// Puts a change into the outbox for each partition it concerns; what concerns this one is heard
  /// at once.
  mutating func forward(
    _ change: Change, to targets: [PartitionID], _ step: Step, _ effects: inout [Effect]
  ) {
    for target in targets {
      send(.change(change, at: step.position), to: target, step, &effects)
    }
  }

  mutating func send(
    _ message: Forwarded.Message, to target: PartitionID, _ step: Step, _ effects: inout [Effect]
  ) {
    guard target != id else { return act(on: message, from: id, step, &effects) }
    let index = rows.outbox.last.map { last in
      last.key.serial.ordinal == step.ordinal ? Int(last.key.serial.bits & 0xffff) + 1 : 0
    }
    let key = OutboxRow.Key(target: target, serial: Position(step.ordinal, index: index ?? 0))
    rows.outbox.append(OutboxRow(source: id, key: key, message: message))
  }

  /// A message of another partition; one heard before is dropped.
  mutating func hear(_ forwarded: Forwarded, _ step: Step, _ effects: inout [Effect]) {
    if let last = heard[forwarded.source], forwarded.serial <= last { return }
    heard[forwarded.source] = forwarded.serial
    rows.heard.append(forwarded.source)
    act(on: forwarded.message, from: forwarded.source, step, &effects)
  }

  private mutating func act(
    on message: Forwarded.Message, from source: PartitionID, _ step: Step,
    _ effects: inout [Effect]
  ) {
    switch message {
    case .change(let change, let zonePosition):
      if change.database == .public {
        fanOut(change, zonePosition: zonePosition, step, &effects)
      } else {
        hearShared(change, zonePosition: zonePosition, step, &effects)
      }
    case .interest(let scope):
      interests[scope, default: 0] |= 1 << UInt64(source.number)
      rows.interests.append(scope)
    case .displaced(let displacement): displace(displacement, step, &effects)
    }
  }

  /// The row's target has it in its journal.
  package mutating func delivered(_ key: OutboxRow.Key) {
    rows.delivered.append(key)
  }
}

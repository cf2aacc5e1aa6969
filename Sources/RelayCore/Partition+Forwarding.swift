import OrderedCollections

extension Partition {
  /// Puts a change into the outbox for each partition it concerns, with the values that are read
  /// there; what concerns this one is heard at once if there is room.
  mutating func forward(
    _ change: Change, to targets: [PartitionID], _ step: Step, _ effects: inout [Effect]
  ) {
    guard !targets.isEmpty else { return }
    var choice = FieldChoice(change)
    for target in targets {
      let needed = choice.change(with: fields(of: change, for: target))
      send(.change(needed, at: step.position), to: target, step, &effects)
    }
  }

  mutating func send(
    _ message: Forwarded.Message, to target: PartitionID, _ step: Step, _ effects: inout [Effect]
  ) {
    if target == id {
      let track = Track(of: message)
      guard mustWait(message, on: track) else { return act(on: message, from: id, step, &effects) }
      lastToSelf[track] = post(message, to: id, step)
      return
    }
    post(message, to: target, step)
  }

  /// Whether a message to this partition itself goes through the outbox: while fan-outs are full,
  /// and behind others of its track that do.
  private func mustWait(_ message: Forwarded.Message, on track: Track) -> Bool {
    if let last = lastToSelf[track], last > heard[Hearing(source: id, track: track)] ?? .zero {
      return true
    }
    guard case .change(let change, _) = message else { return false }
    return fanOuts.count >= limits.fanOuts && message.isFanOut && mayFanOut(change)
  }

  @discardableResult
  private mutating func post(
    _ message: Forwarded.Message, to target: PartitionID, _ step: Step
  ) -> Position {
    let index = rows.outbox.last.map { last in
      last.key.serial.ordinal == step.ordinal ? last.key.serial.indexOnTrack + 1 : 0
    }
    let serial = Track(of: message).serial(step.ordinal, index: index ?? 0)
    rows.outbox.append(
      OutboxRow(
        source: id, key: OutboxRow.Key(target: target, serial: serial), message: message))
    return serial
  }

  /// A message of another partition; one heard before is dropped.
  mutating func hear(_ forwarded: Forwarded, _ step: Step, _ effects: inout [Effect]) {
    let hearing = Hearing(source: forwarded.source, track: Track(of: forwarded.serial))
    if let last = heard[hearing], forwarded.serial <= last { return }
    heard[hearing] = forwarded.serial
    rows.heard.append(hearing)
    var step = step
    step.cause = FactPlace(partition: forwarded.source, ordinal: forwarded.serial.ordinal)
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
    case .interests(let told): interests.hear(told, from: source)
    case .displaced(let displacement): displace(displacement, step, &effects)
    }
  }

  /// The row's target has it in its journal.
  package mutating func delivered(_ key: OutboxRow.Key) {
    rows.delivered.append(key)
  }
}

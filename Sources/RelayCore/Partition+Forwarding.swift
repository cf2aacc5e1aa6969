extension Partition {
  /// Puts a change into the outbox for each of `targets`, with the record values that the target's
  /// subscriptions read. A message to this partition itself is stepped at once, unless the message
  /// must wait in the outbox.
  mutating func forward(
    _ change: Change, to targets: [PartitionID], _ step: Step, _ effects: inout [Effect]
  ) {
    guard !targets.isEmpty else { return }
    trace(.forwarded(targets), of: change, from: step.ordinal, at: step.at)
    var choice = FieldChoice(change)
    for target in targets {
      let needed = choice.change(with: fields(of: change, for: target))
      send(.change(needed, at: step.position), to: target, step, &effects)
    }
  }

  mutating func send(
    _ message: Forwarded.Message, to target: PartitionID, _ step: Step, _ effects: inout [Effect]
  ) {
    if target == id, !mustWait(message) { return act(on: message, from: id, step, &effects) }
    messages.post(message, to: target, at: step.ordinal)
  }

  /// Whether a message to this partition itself must wait in the outbox, because it may begin a
  /// fan-out and the partition has `Limits.fanOuts` of them already, or because earlier messages of
  /// its track wait in the outbox.
  private func mustWait(_ message: Forwarded.Message) -> Bool {
    if messages.areWaitingForSelf(on: Track(of: message)) { return true }
    guard case .change(let change, _) = message else { return false }
    return fanOuts.count >= limits.fanOuts && message.isFanOut && mayFanOut(change)
  }

  /// Steps a message from the outbox of another partition, or of this one. A repeated message is
  /// dropped.
  mutating func hear(_ forwarded: Forwarded, _ step: Step, _ effects: inout [Effect]) {
    guard messages.hear(forwarded.serial, from: forwarded.source) else { return }
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
      trace(.reached, of: change, from: step.ordinal, at: step.at)
      if change.database == .public {
        fanOut(change, zonePosition: zonePosition, step, &effects)
      } else {
        hearShared(change, zonePosition: zonePosition, step, &effects)
      }
    case .interests(let told): interests.hear(told, from: source)
    case .displaced(let displacement): displace(displacement, step, &effects)
    }
  }
}

import RelayCore

/// The shell: runs the daemon's turns and performs its actions in their order. It decides nothing.
extension World {
  /// Runs turns until no input is left.
  func turn() throws {
    while let daemon {
      observer.witness.turnBegins()
      // A crash ends the turn.
      guard try perform(daemon.handle(at: moment), on: daemon) else { return }
      let (actions, steps) = daemon.proceed(at: moment)
      for step in steps { self.stepped(step) }
      guard try perform(actions, on: daemon), daemon.hasInputs else { return }
    }
  }

  /// - Returns: false if an action has ended the daemon.
  private func perform(
    _ actions: [Coordinator.Action], on daemon: SimulatedDaemon
  ) throws -> Bool {
    for action in actions {
      guard self.daemon === daemon else { return false }
      try perform(action, on: daemon)
    }
    return self.daemon === daemon
  }

  private func stepped(_ step: Coordinator.Step) {
    durable.unstepped[FactPlace(partition: step.entry.partition, ordinal: step.entry.ordinal)] = nil
    let row = authored(step.entry)
    count(row, isFanningOut: step.isFanningOut, step.effects)
    observer.stepped(row, step.effects)
  }

  private func perform(_ action: Coordinator.Action, on daemon: SimulatedDaemon) throws {
    switch action {
    case .append(let entries):
      try checkCommit(entries)
      daemon.appending = entries
      soon(20, .committed(life: life))
    case .fold(let cut):
      daemon.folding = cut
      soon(max(1, plan.foldTime.milliseconds), .folded(life: life))
    case .trim(let tombstones, let notifications, _):
      let rows = store.trim(tombstones: tombstones, notifications: notifications)
      if rows > 0 { observer.hasTrimmed = true }
      outcome.counts[.trimmed] += rows
      soon(80, .trimmed(life: life, rows))
    case .push(let attempt):
      try push(attempt)
      if mutant == .pushesTwice { try push(attempt) }
    case .recall(let attempt, let place):
      recall(attempt)
      daemon.add(.recalled(place))
    case .hangUp(let device): hangUp(device)
    case .answer(let request, let result):
      guard let operation = daemon.operations[request] else { return }
      switch result {
      case .success(let answers): reply(operation, .answers(answers))
      case .failure(let refusal):
        reply(operation, refusal == .requestTooLarge ? .tooLarge : .unavailable)
      }
    case .release(let request): daemon.release(request)
    case .admission(let refusal): daemon.admission.refuse(refusal)
    case .dirtied(let place): daemon.barrier.dirtied(place)
    case .cut(let others): daemon.barrier.cut(without: others)
    case .visible: for reader in daemon.barrier.folded() { try read(reader) }
    case .unreadable(let cause): for reader in daemon.barrier.refused(cause) { comesAgain(reader) }
    case .timer(let span): if daemon.arm(at: now + span) { at(span, .timer(life: life)) }
    case .stopped(let last): stopped(last)
    case .failed(let error, let failure): crash("\(failure) failed: \(error)")
    case .event(let event):
      if case .clock(.believed) = event { faults.corrections.append(now) }
      if case .circuit(let route, let reason) = event {
        observer.witness.circuit(of: route, isStopped: reason != nil)
      }
      tell?("  told: \(String("\(event)".prefix(160)))")
    case .trace(let batches): record(batches.flatMap(\.entries))
    case .feedback: break
    }
  }

  /// Lets a reader that was refused try again later.
  func comesAgain(_ reader: SimulatedDaemon.Reader) {
    let feed = reader.query.feed
    guard clients[reader.client].user == reader.query.reader else { return }
    clients[reader.client].follows[feed]?.isFetching = false
    soon(5_000, .fetch(client: reader.client, feed))
  }

  func reply(_ operation: Int, _ reply: Reply) {
    if draw.permille(plan[.answerLost]) { return }
    soon(50, .answer(operation: operation, reply))
  }
}

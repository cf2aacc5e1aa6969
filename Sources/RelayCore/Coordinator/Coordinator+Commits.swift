extension Coordinator {
  /// Hands the next group to the journal, if none is under way.
  mutating func startCommit(at now: Instant) {
    guard let entries = commit.next(at: now, room: roomInCut) else { return }
    actions.append(.append(entries))
  }

  /// Facts that may be journalled before the next cut, each of them counted as one entry. While the
  /// store refuses folds, no cut is near, and what needs the journal alone goes on.
  private var roomInCut: Int {
    isFoldAwaited && counters.storeTrouble == nil
      ? settings.work.entriesForReader - relay.uncutEntries - stepping.count : .max
  }

  mutating func appended() {
    if cut == nil { counters.storeWorks() }
    let durable = commit.committed()
    counters.unfolded += durable.reduce(0) { $0 + $1.facts.count }
    stepping.add(durable)
  }

  mutating func appendFailed(_ error: StoreError, at now: Instant) {
    if error.isPassing {
      reach(.commitRefused)
      actions.append(.event(.appendRefused(error)))
      counters.refused(error, at: now)
      end(commit.refused(retryAt: now + FoldSchedule.retry), because: error)
    } else if error.code == .tooLarge {
      end(commit.refusedForSize(), because: error)
    } else {
      actions.append(.failed(error, .append))
    }
  }

  private mutating func end(_ refused: GroupCommit.Refused, because error: StoreError) {
    switch refused {
    case .requests(let tickets):
      for ticket in tickets { refuse(ticket, error.refusal) }
    case .divided:
      reach(.commitDivided)
      actions.append(.event(.divided(error)))
    case .request(let ticket):
      reach(.requestRefused)
      actions.append(.event(.requestRefused(error)))
      refuse(ticket, .requestTooLarge)
    case .own(let fact):
      // What was accepted is not dropped: the names are told, the values are not.
      guard let smaller = fact.withoutValues else {
        return actions.append(.failed(error, .fact))
      }
      reach(.valuesLeftOut)
      actions.append(.event(.valuesLeftOut(error)))
      commit.putBack(smaller)
    }
  }

  private mutating func refuse(_ ticket: RequestTicket, _ cause: Unavailable.Cause) {
    requests.refuse(
      ticket.request, Unavailable(cause, retryAfterSeconds: 5), into: &actions)
  }

  /// Beyond the longest tail new facts are refused: told whenever facts were stepped and whenever a
  /// fold has ended.
  mutating func updateAdmission() {
    let hasRoom = settings.hasRoom(tail: counters.unfolded, entries: relay.uncutEntries)
    if !hasRoom { reach(.admissionEnded) }
    actions.append(.admission(hasRoom ? nil : .storeFull))
  }
}

extension StoreError {
  /// What those are told who wait for what was refused.
  var refusal: Unavailable.Cause { code == .full ? .storeFull : .storeUnwritable }
}

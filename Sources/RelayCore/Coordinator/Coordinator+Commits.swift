extension Coordinator {
  /// Hands the next commit to the journal, if none is under way.
  mutating func startCommit(at now: Instant) {
    guard let entries = commit.next(at: now, room: roomInCut) else { return }
    actions.append(.append(entries))
  }

  /// How many facts may be journalled before the next cut, each counted as one entry. There is no
  /// bound while nothing waits for a fold. There is none either while the store refuses folds: no
  /// cut is near then, and facts that only need the journal continue.
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
      // An accepted change is not dropped: it is forwarded with its names and without its values.
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

  /// Refuses new facts when too many wait for a fold, and accepts them again afterwards. The
  /// coordinator calls this after every step and after every fold.
  mutating func updateAdmission() {
    let hasRoom = settings.hasRoom(tail: counters.unfolded, entries: relay.uncutEntries)
    if !hasRoom { reach(.admissionEnded) }
    actions.append(.admission(hasRoom ? nil : .storeFull))
  }
}

extension StoreError {
  /// The cause with which callers and readers are refused after the store has refused a write.
  var refusal: Unavailable.Cause { code == .full ? .storeFull : .storeUnwritable }
}
